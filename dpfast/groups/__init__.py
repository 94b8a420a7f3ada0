"""Statistics of groups of rows, for one loss whose privacy unit is a row or a person."""
