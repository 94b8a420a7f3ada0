"""The command line: parameters in, one JSON object or a table out, no arithmetic."""
