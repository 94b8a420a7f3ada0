"""A comparison of systems for differential privacy, each in an environment of its own.

`python -m benchmarks.compare` makes the environments, runs every workload with every system that
offers it, audits what they claim, and writes the results and a page.
"""
