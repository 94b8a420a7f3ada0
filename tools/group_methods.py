"""Write `dpfast/groups/methods.pyi`, which says to type checkers what the methods of `GroupBy` are.

python tools/group_methods.py writes it; with --check it fails if something else would be written.
"""

import inspect
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dpfast.groups.methods import METHODS, Methods

STUB = Path(__file__).resolve().parents[1] / "dpfast" / "groups" / "methods.pyi"
HEAD = '''"""Made by tools/group_methods.py."""

from collections.abc import Sequence
from typing import Any, Literal

from .._core.types import Bounds, NanPolicy, Number
from ..budget.budget import Budget
from ..rng import Generator
from .answer import Answer

class Methods:
'''


def written():
    """The text of the file."""
    lines = [HEAD.rstrip("\n")]
    for name in METHODS:
        lines += [f"    def {name}(", "        self,"]
        keyword = False
        for one in list(inspect.signature(getattr(Methods, name)).parameters.values())[1:]:
            if one.kind is one.KEYWORD_ONLY and not keyword:
                keyword = True
                lines.append("        *,")
            default = "" if one.default is one.empty else f" = {one.default!r}"
            lines.append(f"        {one.name}: {one.annotation}{default},".replace("'", '"'))
        lines.append("    ) -> Answer: ...")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--check" not in sys.argv[1:]:
        STUB.write_text(written(), encoding="utf-8")
    elif STUB.read_text(encoding="utf-8") != written():
        sys.exit(f"{STUB.name} is not up to date: run tools/group_methods.py")
