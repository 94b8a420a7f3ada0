"""Jobs and the command line: parameters in, tables out, no arithmetic."""
