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
import tomllib
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
        "docs/guide/releases.md",
        "docs/guide/sampling-error.md",
        "docs/guide/proportions.md",
        "docs/guide/from-pandas.md",
        "docs/guide/from-sql.md",
        "docs/guide/scikit-learn.md",
    ],
    "Guide": [
        "docs/guide/at-a-glance.md",
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
        "docs/guide/learn.md",
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
    "Measured": [
        "docs/guide/compare.md",
        "docs/guide/accuracy.md",
        "docs/guide/speed.md",
        "docs/guide/speed-history.md",
    ],
    "Examples": ["docs/gallery/README.md"],
    "Reference": ["docs/reference/dpfast.rst"],
    "Theory": [
        "docs/theory/local-sensitivity.md",
        "docs/theory/groups.md",
        "docs/theory/marginals.md",
        "docs/theory/proofs.md",
        "docs/theory/threat-model.md",
        "docs/theory/security-review.md",
        "docs/theory/decisions.md",
    ],
    "Project": [
        "docs/architecture.md",
        "CONTRIBUTING.md",
        "docs/stability.md",
        "docs/roadmap.md",
        "SECURITY.md",
        "CODE_OF_CONDUCT.md",
        "CHANGELOG.md",
    ],
}
#: Words of a search that lead to a page, and its entries in the index; titles do so by themselves.
WORDS = {
    "docs/guide/epsilon.md": ["choose epsilon", "choosing epsilon", "which epsilon", "odds"],
    "docs/guide/used-up.md": ["budget refused", "budget exhausted", "not enough budget"],
    "docs/guide/what-to-say.md": ["ethics board", "data protection officer", "GDPR", "disclosure"],
    "docs/guide/releases.md": ["Release", "record", "schema"],
    "docs/guide/sampling-error.md": ["confidence interval", "standard error", "margin of error"],
    "docs/guide/proportions.md": ["percentage", "rate", "relative risk", "percentage points"],
    "docs/guide/from-pandas.md": ["pandas", "groupby", "value_counts", "pivot_table", "cookbook"],
    "docs/guide/from-sql.md": ["SQL", "GROUP BY", "COUNT DISTINCT", "WHERE", "cookbook"],
    "docs/guide/scikit-learn.md": ["scikit-learn", "sklearn", "pipeline", "cross-validation"],
    "docs/guide/groups.md": ["privacy unit", "error bar"],
    "docs/guide/contribution.md": ["contribution bounds", "max_rows", "max_groups"],
    "docs/guide/keys.md": ["partition selection", "private keys"],
    "docs/guide/ledger.md": ["ledger"],
    "docs/guide/command-line.md": ["command line", "job"],
    "docs/guide/engines.md": ["Spark", "Dask", "Parquet"],
    "docs/guide/sql.md": ["DuckDB", "PostgreSQL", "SQLite"],
    "docs/guide/learn.md": ["machine learning", "classification", "clustering"],
    "docs/guide/sulq.md": ["statistical queries", "noisy sums"],
    "docs/theory/proofs.md": ["Coq", "formal verification", "machine-checked"],
    "docs/theory/threat-model.md": ["threat model", "side channel"],
    "docs/theory/security-review.md": ["attack surface", "fuzzing", "sanitizers"],
}
#: What users call methods of and never name, on the page of the function that hands it over.
RETURNED = {
    "dpfast.group_by": "dpfast.groups.api.GroupBy",
    "dpfast.marginals": "dpfast.groups.marginals.MarginalTables",
    "dpfast.noise.generator": "dpfast.noise.generator.Sampler",
    "dpfast.selection.best_of": "dpfast.selection.best_of.Best",
    "dpfast.tree_histogram": "dpfast.statistics.tree.counts.TreeCounts",
    "dpfast.workload": "dpfast.statistics.workload.answer.WorkloadCounts",
}
LINK = re.compile(r"\]\(([^)\s#]+)[^)]*\)")
#: What a repository's page says where the site has sliders.
SLIDER = re.compile(r"<!-- slider -->.*<!-- /slider -->", re.S)


#: A section of a docstring, a parameter of one, and one that is said elsewhere.
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
ENTRY = re.compile(r"\n(?=\S)")
#: Where an epsilon is a loss that is asked for, and no number to compute with.
ASK = ("dpfast", "dpfast.learn", "dpfast.ptr", "dpfast.stat", "dpfast.sulq")
AS_IN = re.compile(r"\n    As in `([\w.]+)`(?:\.|, which has the theorem\.)$")
EXPLAINED = tomllib.loads((ROOT / "tools/shared_parameters.toml").read_text("utf-8"))["explained"]


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


def sections(text):
    """The sections of a docstring by name in their order; what comes before them has no name."""
    opening, *parts = SECTION.split(text)
    return {"": opening.strip("\n")} | {
        name: body.strip("\n") for name, body in zip(parts[::2], parts[1::2], strict=True)
    }


def parameters(name, every):
    """The parameters of a public name, those that are said elsewhere with the words of there."""
    text = sections(inspect.getdoc(every[name]) or "").get("Parameters", "")
    for entry in filter(None, ENTRY.split(text)):
        names = entry.partition("\n")[0].partition(" : ")[0].split(", ")
        there = AS_IN.search(entry)
        homes = (there[1], f"{name.rpartition('.')[0]}.{there[1]}") if there else ()
        source = next((home for home in homes if home in every and home != name), None)
        if source is None:
            yield names, entry
            continue
        for others, words in parameters(source, every):
            if same := [one for one in others if one in names]:
                yield same, words.replace(", ".join(others), ", ".join(same), 1)
                names = [one for one in names if one not in same]
        if names:
            yield names, entry.replace(entry.partition("\n")[0], ", ".join(names), 1)


def explained(names, entry):
    """An entry of parameters with what their names mean, if it says what they are."""
    words = () if AS_IN.search(entry) else (EXPLAINED[x] for x in names if x in EXPLAINED)
    return "\n    ".join([entry, *words])


def for_readers(name, every):
    """A docstring with its parameters explained, and before the citations."""
    parts = sections(inspect.getdoc(every[name]) or "")
    order = list(parts)
    if "Parameters" in parts:
        entries = list(parameters(name, every))
        asks = name.rpartition(".")[0] in ASK or any("budget" in names for names, _ in entries)
        texts = (explained(*x) if asks else x[1] for x in entries)
        parts["Parameters"] = "\n".join(texts)
        if "Privacy" in order:
            order.remove("Privacy")
            before = ("Parameters", "Returns", "Raises")
            order.insert(1 + max(order.index(x) for x in before if x in order), "Privacy")
    heads = (f"{section}\n{'-' * len(section)}\n" if section else "" for section in order)
    return "\n\n".join(head + parts[section] for head, section in zip(heads, order, strict=True))


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
            if home == "dpfast" and name[7].islower():  # a search finds it first
                word = name.removeprefix("dpfast.")
                words = dict.fromkeys((word, word.replace("_", " ")))
                page += [f".. index:: {', '.join(f'! {word}' for word in words)}", ""]
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
    for page, words in WORDS.items():
        title, _, text = (into / page).read_text(encoding="utf-8").partition("\n")
        entries = ", ".join(f"! {word}" for word in words)
        text = f"{title}\n\n```{{index}} {entries}\n```\n{text}"
        (into / page).write_text(text, encoding="utf-8")
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
