"""Private answers to a known set of linear queries, with noise planned for these queries."""
