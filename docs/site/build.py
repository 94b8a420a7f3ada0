"""Build the documentation site from the repository.

    python docs/site/build.py [folder]

The folder is `build/site` unless another is given; open its `index.html`, no server is needed. The
pages are the Markdown of the repository as it stands, the notebooks with the outputs that are kept
in them, and a reference that is made from `__all__` of the package and of its public modules, so
that nothing public is left out. `pip install -e ".[site]"` brings what is needed. A warning is an
error.
"""

import argparse
import importlib.util
import inspect
import json
import re
import shutil
import sys
import tempfile
from base64 import b64decode
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).resolve().parent
DOCS, ROOT = HERE.parent, HERE.parents[1]
NEEDS = ("sphinx", "myst_parser", "furo")

#: The pages beside the gallery and the reference, in their order; all others are an error.
CONTENTS = {
    "Start": ["docs/start.md", "docs/notebooks/first-release.md", "docs/notebooks/report.md"],
    "Questions": [
        "docs/guide/epsilon.md",
        "docs/guide/slider.md",
        "docs/guide/used-up.md",
        "docs/guide/what-to-say.md",
        "docs/guide/sampling-error.md",
        "docs/guide/proportions.md",
        "docs/guide/cookbook.md",
        "docs/guide/scikit-learn.md",
    ],
    "Guide": [
        "docs/guide/groups.md",
        "docs/guide/contribution.md",
        "docs/guide/keys.md",
        "docs/guide/ranges.md",
        "docs/guide/marginals.md",
        "docs/guide/workloads.md",
        "docs/guide/command-line.md",
        "docs/guide/batch.md",
        "docs/guide/ledger.md",
        "docs/guide/extending.md",
        "docs/guide/native.md",
        "docs/guide/engines.md",
        "docs/guide/sql.md",
        "docs/guide/joins.md",
        "docs/guide/sulq.md",
        "docs/guide/streams.md",
        "docs/guide/generator.md",
        "docs/guide/blocks.md",
        "docs/guide/audit.md",
        "docs/guide/attacks.md",
    ],
    "Backends": [
        "docs/guide/backends.md",
        "docs/guide/backends/opendp.md",
        "docs/guide/backends/dp-accounting.md",
        "docs/guide/backends/mbi.md",
        "docs/guide/backends/diffprivlib.md",
        "docs/guide/backends/pipelinedp.md",
        "docs/guide/backends/query-engines.md",
    ],
    "Measured": ["docs/guide/compare.md", "docs/guide/accuracy.md", "docs/guide/speed.md"],
    "Examples": ["docs/gallery/README.md"],
    "Reference": ["docs/reference/dpfast.rst"],
    "Theory": [
        "docs/theory/local-sensitivity.md",
        "docs/theory/groups.md",
        "docs/theory/marginals.md",
        "docs/theory/threat-model.md",
        "docs/theory/decisions.md",
    ],
    "Project": [
        "docs/architecture.md",
        "CONTRIBUTING.md",
        "docs/stability.md",
        "docs/roadmap.md",
        "SECURITY.md",
        "CHANGELOG.md",
    ],
}
#: What users call methods of and never name, on the page of the function that hands it over.
RETURNED = {
    "dpfast.group_by": "dpfast.groups.api.GroupBy",
    "dpfast.marginals": "dpfast.groups.marginals.MarginalTables",
    "dpfast.noise.generator": "dpfast.noise.generator.Sampler",
    "dpfast.online.published": "dpfast.online.published_constants.Published",
    "dpfast.selection.best_of": "dpfast.selection.best_of.Best",
    "dpfast.tree_histogram": "dpfast.statistics.tree.counts.TreeCounts",
    "dpfast.workload": "dpfast.statistics.workload.answer.WorkloadCounts",
}
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
#: What a repository's page says where the site has sliders.
SLIDER = re.compile(r"<!-- slider -->.*<!-- /slider -->", re.S)


def public(module=None, name="dpfast"):
    """The name and the object of everything public, a module before what is in it."""
    if module is None:
        import dpfast as module
    yield name, module
    for own in sorted(module.__all__, key=str.lower):
        found = getattr(module, own)
        if isinstance(found, ModuleType):
            yield from public(found, f"{name}.{own}")
        else:
            yield f"{name}.{own}", found


def arguments(found):
    """The names of the arguments of a function or class; errors are made by dpfast alone."""
    if not callable(found) or (inspect.isclass(found) and issubclass(found, BaseException)):
        return []
    return list(inspect.signature(found).parameters)


def summary(found):
    """The first sentence of a docstring."""
    text = (inspect.getdoc(found) or "").split("\n\n")[0]
    return re.split(r"(?<=[.:]) (?=[A-Z`])", " ".join(text.split()))[0]


def reference(into):
    """One page for each public name; that of a module lists what is in it."""
    into.mkdir()
    every = dict(public())
    for name, found in every.items():
        page = [name, "=" * len(name), ""]
        home = name.rpartition(".")[0]
        if not isinstance(found, ModuleType):
            # Not in the tree of the sidebar: with it every page has every name, at twice the time.
            page = [":orphan:", "", *page, f"In :doc:`{home}`.", ""]
        if isinstance(found, ModuleType):
            inside = [n for n in every if n.rpartition(".")[0] == name]
            page += [f".. py:module:: {name}", "", inspect.getdoc(found), ""]
            page += [".. list-table::", "   :widths: 30 70", ""]
            for one in inside:
                page += [f"   * - :doc:`{one.removeprefix('dpfast.')} <{one}>`"]
                page += [f"     - {summary(every[one])}"]
            modules = [one for one in inside if isinstance(every[one], ModuleType)]
            page += ["", ".. toctree::", "   :hidden:", "", *(f"   {one}" for one in modules)]
        elif inspect.isclass(found):
            kind = "exception" if issubclass(found, BaseException) else "class"
            page += [f".. auto{kind}:: {name}"]
            if kind == "class":
                page += ["   :members:", "   :inherited-members: tuple, object"]
        else:
            kind = "function" if callable(found) else "data"
            page += [f".. auto{kind}:: {name}"]
            if name in RETURNED:
                page += ["", "What it returns:", "", f".. autoclass:: {RETURNED[name]}"]
                page += ["   :no-index-entry:", "   :members:", "   :inherited-members: dict"]
        (into / f"{name}.rst").write_text("\n".join(page) + "\n", encoding="utf-8")


def notebook(path):
    """A notebook as Markdown with the outputs that are kept in it; pictures go beside it."""
    parts = []
    for i, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for j, output in enumerate(cell["outputs"]):
            data = output.get("data", {})
            if "image/png" in data:
                picture = path.with_name(f"{path.stem}-{i}-{j}.png")
                picture.write_bytes(b64decode("".join(data["image/png"])))
                parts.append(f"![Output of the code above]({picture.name})")
            else:
                text = "".join(output.get("text", data.get("text/plain", "")))
                parts.append(f"```text\n{text.rstrip()}\n```")
    path.with_suffix(".md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    path.unlink()


def toctree(pages, *options):
    """A table of contents."""
    return "\n".join(["", "```{toctree}", ":hidden:", *options, "", *pages, "```", ""])


def stage(into):
    """Lay out the pages in an empty folder as they lie in the repository."""
    shutil.copytree(DOCS, into / "docs", ignore=shutil.ignore_patterns("site", "__pycache__"))
    for page in ROOT.glob("*.md"):
        shutil.copy(page, into)
    for path in into.glob("docs/notebooks/*.ipynb"):
        notebook(path)
    slider = f"```{{raw}} html\n{(HERE / 'slider.html').read_text(encoding='utf-8')}```"
    for page in list(into.rglob("*.md")):
        text = page.read_text(encoding="utf-8").replace(".ipynb)", ".md)")
        text = SLIDER.sub(lambda _: slider, text)
        page.write_text(text, encoding="utf-8")
        for link in LINK.findall(text):  # to what is no page, code for instance
            target = page.parent / link
            own = (ROOT / page.relative_to(into)).parent / link
            if not target.exists() and own.is_file():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(own, target.resolve())
    with (into / "README.md").open("a", encoding="utf-8") as home:
        for caption, pages in CONTENTS.items():
            home.write(toctree(pages, f":caption: {caption}"))
    index = into / "docs" / "gallery" / "README.md"
    listed = [x for x in LINK.findall(index.read_text(encoding="utf-8")) if "/" not in x]
    with index.open("a", encoding="utf-8") as gallery:
        gallery.write(toctree(dict.fromkeys(x for x in listed if x.endswith(".md"))))
    reference(into / "docs" / "reference")


def build(out):
    """Build the site into a folder; what was there before goes."""
    missing = [name for name in NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        line = 'pip install -e ".[site]"'
        raise SystemExit(f"{', '.join(missing)} is not installed, and the site needs it: {line}")
    from sphinx.cmd.build import build_main

    shutil.rmtree(out, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        stage(source)
        given = ["-q", "-W", "--keep-going", "-c", HERE, "-d", Path(folder, "cache"), source, out]
        if failed := build_main(list(map(str, given))):
            raise SystemExit(failed)
    shutil.copy(out / "README.html", out / "index.html")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "build" / "site")
    folder = parser.parse_args().folder.resolve()
    build(folder)
    print(folder / "index.html", file=sys.stderr)
