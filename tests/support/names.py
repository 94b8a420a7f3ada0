"""Names of test cases that are the same in every process, so that several may share the tests."""

import re


def shown(value):
    """A value as text, without its address."""
    return re.sub(r" (object )?at 0x[0-9a-f]+", "", str(value))[:60]
