"""Private statistics of one column or of several columns: a file or folder for each statistic."""
