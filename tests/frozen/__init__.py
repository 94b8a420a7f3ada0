"""Frozen answers, prices and error bars of every public release: TEMPORARY.

`digests.json` was made by the tree before statistics became values. Each step of that change is to
give the same bits, the same prices and the same error bars, or to name what it changed and why. The
folder is deleted when the change is complete.

    python -m tests.frozen            list what is another now, in words
    python -m tests.frozen --write    list it, and keep it
    pytest tests/frozen               a sample in seconds; `-m full` for the rest

`calls.py` says what is called, in public names and by the tables of the other tests, so that a way
to call it can be rewritten while its name, and so its digest, stays. A call that has to get another
name takes an entry in `calls.RENAMED`.
"""
