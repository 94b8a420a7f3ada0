"""Private counts of ranges of an ordered domain, from a tree of noisy counts."""
