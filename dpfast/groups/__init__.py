"""Statistics of groups, for one loss of rows or of people."""
