"""Tables in a database, which sums integers of its rows itself, through Ibis."""
