"""Run the pages of the gallery and make their plots.

    python docs/gallery/build.py [--keep] [page ...]

A page is Markdown. Its fenced ``python`` blocks run in order, in one namespace, from within the
directory that gets the plots; this one unless a test says otherwise. Where a ``text`` block follows
one, that is what it prints (`--keep` writes it there). `pip install -e ".[docs]"` brings matplotlib
and scikit-learn, and the embedded table wants the extra `io`.
"""

import argparse
import contextlib
import io
import os
import re
import time
import warnings
from pathlib import Path

HERE = Path(__file__).parent
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n?```text\n(.*?)^```$)?", re.M | re.S)
REPEATS = re.compile(r"^repeats = [0-9_]+$", re.M)
IMAGE = re.compile(r"!\[[^\]]+\]\(([^)]+)\)")


def pages():
    """Every page but the index."""
    return sorted(p for p in HERE.glob("*.md") if p.name != "README.md")


def images(text):
    """The files that a page shows."""
    return IMAGE.findall(text)


def run(page, into=HERE, repeats=None, keep=False):
    """Run a page's blocks from within the directory `into`, with fewer `repeats` if given.

    Line numbers of a traceback are those of the page. What a block prints is compared with the
    page where the page shows it, or kept there. Advice is an error: what a page releases a budget
    pays for, and what it provokes on purpose it silences.
    """
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    import dpfast as dp

    page = Path(page).resolve()
    text = page.read_text(encoding="utf-8")
    if repeats is not None:
        text = REPEATS.sub(f"repeats = {repeats}", text)
    names = {"__name__": "gallery", "__file__": str(page)}
    kept, done = [], 0
    advice = warnings.catch_warnings(action="error", category=dp.PrivacyAdvice)
    with contextlib.chdir(into), plt.rc_context({"savefig.dpi": 90}), advice:
        with dp.Budget(epsilon=1):
            pass  # from here on the next call that no budget pays for warns, as in a new process
        try:
            for block in BLOCK.finditer(text):
                above = text.count("\n", 0, block.start(1))
                code = compile("\n" * above + block[1], page, "exec")
                if block[2] is None:
                    exec(code, names)
                    continue
                with contextlib.redirect_stdout(io.StringIO()) as said:
                    exec(code, names)
                line = text.count("\n", 0, block.start(2)) + 1
                same = keep or said.getvalue() == block[2]
                assert same, f"{page.name}, line {line}: printed\n{said.getvalue()}"
                kept += [text[done : block.start(2)], said.getvalue()]
                done = block.end(2)
        finally:
            plt.close("all")
    if keep:
        page.write_text("".join(kept) + text[done:], encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", nargs="*", type=Path, default=pages())
    parser.add_argument("--keep", action="store_true", help="keep in the page what it prints")
    given = parser.parse_args()
    for page in given.page:
        start = time.perf_counter()
        print(f"== {page.name}")
        run(page, keep=given.keep)
        made = [page.parent / name for name in images(page.read_text(encoding="utf-8"))]
        sizes = ", ".join(f"{p.name} {os.path.getsize(p) / 1024:.0f} KiB" for p in made)
        print(f"   {time.perf_counter() - start:.1f} s; {sizes}")
