"""Bounds that the data choose, privately: by themselves, and as a part of another release."""
