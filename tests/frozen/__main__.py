"""`python -m tests.frozen [--write]`: list what is another now, in words, and keep it."""

import sys
import tempfile
from collections import Counter
from pathlib import Path

from .compare import FILE, calls, differences, read, recorded, write


def main() -> int:
    before = read() if FILE.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        made = calls(Path(folder))
        after = recorded(made, made)
    lines = [*differences(before, after)]
    if before:
        print(*lines, sep="\n")
    print(f"{len(after)} calls, {dict(Counter(part for kept in after.values() for part in kept))}")
    print(f"{len(lines)} parts of calls are others than in {FILE.name}")
    failed = [name for name, kept in after.items() if len(kept["answer"]) > 16]
    if failed or "--write" not in sys.argv:
        print(*(f"{name}: {after[name]['answer']}" for name in failed), sep="\n")
        return bool(failed or lines)
    write(after)
    return 0


if __name__ == "__main__":
    sys.exit(main())
