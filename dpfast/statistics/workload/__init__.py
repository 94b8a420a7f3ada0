"""Linear queries that are known beforehand, with the least noise for all of them."""
