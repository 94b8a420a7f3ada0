"""dpfast: exact differential privacy at float speed."""

__version__ = "0.1.0"
