"""Sample and aggregate: any statistic made private, by way of its values on random blocks."""
