"""Audits of every public mechanism, and of planted faults: `python -m benchmarks.audited`."""
