"""Exact summaries of a pass over data: sums of grid cells and windows of order statistics."""
