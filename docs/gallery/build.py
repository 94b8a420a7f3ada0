"""Run the pages of the gallery and make their plots.

    python docs/gallery/build.py [page ...]

A page is Markdown. Its fenced ``python`` blocks run in order, in one namespace, from within the
directory that gets the plots; this one unless a test says otherwise. `pip install -e ".[docs]"`
brings matplotlib and scikit-learn, and the embedded table wants the extra `io`.
"""

import argparse
import contextlib
import os
import re
import time
from pathlib import Path

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)
REPEATS = re.compile(r"^repeats = [0-9_]+$", re.M)
IMAGE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")


def pages():
    """Every page but the index."""
    return sorted(p for p in HERE.glob("*.md") if p.name != "README.md")


def images(text):
    """The files that a page shows."""
    return IMAGE.findall(text)


def run(page, into=HERE, repeats=None):
    """Run a page's blocks from within the directory `into`, with fewer `repeats` if given.

    Line numbers of a traceback are those of the page.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    page = Path(page).resolve()
    text = page.read_text(encoding="utf-8")
    if repeats is not None:
        text = REPEATS.sub(f"repeats = {repeats}", text)
    names = {"__name__": "gallery"}
    with contextlib.chdir(into), plt.rc_context({"savefig.dpi": 90}):
        try:
            for block in BLOCK.finditer(text):
                above = text.count("\n", 0, block.start(1))
                exec(compile("\n" * above + block[1], page, "exec"), names)
        finally:
            plt.close("all")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", nargs="*", type=Path, default=pages())
    for page in parser.parse_args().page:
        start = time.perf_counter()
        print(f"== {page.name}")
        run(page)
        made = [HERE / name for name in images(page.read_text(encoding="utf-8"))]
        sizes = ", ".join(f"{p.name} {os.path.getsize(p) / 1024:.0f} KiB" for p in made)
        print(f"   {time.perf_counter() - start:.1f} s; {sizes}")
