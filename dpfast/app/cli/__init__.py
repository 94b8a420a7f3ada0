"""The command line: it parses options and prints one JSON object or a table."""
