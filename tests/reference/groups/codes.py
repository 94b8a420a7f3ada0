"""The plain slow twin of codes: a dictionary, one key at a time."""


class Codes:
    """Numbers of keys in the order in which they were first seen; None is no key."""

    def __init__(self):
        self.numbers = {}

    def find(self, keys):
        return [-1 if key is None else self.numbers.get(key, -1) for key in keys]

    def add(self, keys):
        """The codes, and the rows whose keys are new."""
        fresh = []
        for row, key in enumerate(keys):
            if key is not None and key not in self.numbers:
                self.numbers[key] = len(self.numbers)
                fresh.append(row)
        return self.find(keys), fresh


def dense(values, first, count):
    return [-1 if v is None or not 0 <= v - first < count else v - first for v in values]
