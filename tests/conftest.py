"""Settings shared by all tests."""

from hypothesis import settings

# A busy machine is no failure: no test asserts a time.
settings.register_profile("dpfast", deadline=None)
settings.load_profile("dpfast")
