"""How much memory a call takes."""

import tracemalloc

#: Measurements of which the least counts: other threads, and what is imported once, only add.
TIMES = 3


def peak(call):
    """Return the most bytes of arrays and objects that a call holds at one time, and its answer."""
    found = []
    for _ in range(TIMES):
        tracemalloc.start()
        try:
            answer = call()
            found.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    return min(found), answer
