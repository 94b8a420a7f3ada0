"""Sample and aggregate: release any statistic through its values on random blocks."""
