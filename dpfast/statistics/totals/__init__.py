"""Counts, sums, means and variances: exact integers with noise for their global sensitivity."""
