"""Private statistics of one column or of several: one file or folder each."""
