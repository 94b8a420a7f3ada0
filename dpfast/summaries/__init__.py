"""What a pass over data leaves behind: exact sums of cells and windows of order statistics."""
