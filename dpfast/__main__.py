"""``dpfast`` and ``python -m dpfast``."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and return its exit code."""
    try:
        from .app.cli.main import run
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("typer", "rich", "click"):
            raise
        print(
            f"dpfast: error: the command line needs {error.name}: pip install typer rich",
            file=sys.stderr,
        )
        return 2
    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
