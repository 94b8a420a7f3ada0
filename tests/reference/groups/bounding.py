"""The plain slow twin of bounding: sets of rows, one person at a time."""

from ..tables.key_words import hash_of, words

TOP = 2**63


def marks(key, ids, codes, max_groups, max_rows, mask=2**64 - 1):
    """Which of the rows are kept."""
    people = {}
    for row, (one, code) in enumerate(zip(ids, codes, strict=True)):
        own = words(key, one)
        if own is not None and code >= 0:
            people.setdefault(own, {}).setdefault(code, []).append(row)
    out = [False] * len(ids)
    for own, groups in people.items():
        person = hash_of(key, *own)
        ranks = sorted((hash_of(key, person, code) & mask, code) for code in groups)
        chosen = [code for _, code in ranks[:max_groups]]
        for code in chosen:
            rows = sorted((hash_of(key, row, TOP) & mask, row) for row in groups[code])
            for _, row in rows[:max_rows]:
                out[row] = True
    return out
