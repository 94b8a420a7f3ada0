"""Tables in a database, which adds up the integers of its rows itself: by Ibis."""
