"""Private counts, sums, means and variances: exact integers with noise for their sensitivity."""
