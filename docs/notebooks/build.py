"""Run the notebooks and keep what they show.

    python docs/notebooks/build.py [--check] [notebook ...]

Each runs from its first cell to its last in a kernel of its own; all of this folder do unless some
are named. With `--check` nothing is written, and it is an error when a notebook shows other things
than those that are kept in it. Numbers may differ, since noise does.
`pip install -e ".[site,io,plot]"` brings what is needed.
"""

import argparse
import importlib.util
import json
import re
import sys
from itertools import groupby
from pathlib import Path

HERE = Path(__file__).parent
NEEDS = ("nbclient", "ipykernel", "matplotlib", "pyarrow")
NUMBER = re.compile(r"[-+]?\d[\d.]*(e[-+]?\d+)?")


def run(path):
    """The notebook after a fresh run, without names and times that every run has anew."""
    import nbclient
    import nbformat

    notebook = nbformat.read(path, 4)
    folder = {"metadata": {"path": str(Path(path).resolve().parent)}}
    nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", coalesce_streams=True, resources=folder
    ).execute()
    for i, cell in enumerate(notebook.cells):
        cell.id, cell.metadata = f"cell-{i}", {}
    notebook.metadata.language_info = {"name": "python"}
    return json.loads(nbformat.writes(notebook))


def written(notebook):
    """The text of its file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def shown(output):
    """The kinds of an output, and what can be read in it."""
    data = output.get("data", {})
    text = output.get("text", data.get("text/html", data.get("text/plain", "")))
    return " ".join(sorted(data)) or output["output_type"], "".join(text)


def outline(notebook):
    """What each cell shows, without its numbers; an output that comes in pieces is one."""
    cells = [map(shown, cell.get("outputs", ())) for cell in notebook["cells"]]
    return [
        [
            (kind, " ".join(NUMBER.sub("#", "".join(text for _, text in pieces)).split()))
            for kind, pieces in groupby(outputs, lambda output: output[0])
        ]
        for outputs in cells
    ]


def build(paths, check=False):
    """Run notebooks; return those that show other things than before."""
    missing = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        line = 'pip install -e ".[site,io,plot]"'
        raise SystemExit(f"{', '.join(missing)} is not installed, and notebooks need it: {line}")
    changed = []
    for path in paths:
        kept, again = json.loads(path.read_text(encoding="utf-8")), run(path)
        if outline(kept) != outline(again):
            changed.append(path)
        if not check:
            path.write_text(written(again), encoding="utf-8")
    return changed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if one is old")
    parser.add_argument("notebook", nargs="*", type=Path, default=sorted(HERE.glob("*.ipynb")))
    given = parser.parse_args()
    changed = build(given.notebook, given.check)
    for path in changed:
        print(f"{path.name} shows other things than before", file=sys.stderr)
    sys.exit(bool(changed) and given.check)
