"""Jobs and the command line: they parse parameters and print tables; no arithmetic."""
