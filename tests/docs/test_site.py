"""The site has every page and every public name, no dead link and nothing from the network."""

import importlib.util
import inspect
import re
import runpy
import subprocess
import sys
import tomllib
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

import dpfast as dp

from ..support.browser import asked, chromium, narrow, wish
from ..support.pages import DOCS, GALLERY, ROOT

BUILD = DOCS / "site" / "build.py"
site = runpy.run_path(str(BUILD))
#: What an analyst types into the search, and the page that has to be first.
ASKED = {
    "median": "reference/dpfast.median", "choose epsilon": "guide/epsilon",
    "pandas": "guide/from-pandas", "groupby": "guide/from-pandas", "SQL": "guide/from-sql",
    "confidence interval": "guide/sampling-error", "KMeans": "reference/dpfast.learn.KMeans",
}  # fmt: skip
LISTED = [page for pages in site["CONTENTS"].values() for page in pages]


def walk(module=dp, name="dpfast"):
    """Every public name, read off `__all__` once more."""
    found = {name: module}
    for own in module.__all__:
        inner = getattr(module, own)
        found |= walk(inner, f"{name}.{own}") if isinstance(inner, ModuleType) else {}
        found.setdefault(f"{name}.{own}", inner)
    return found


# ---- What goes in. ----


def test_every_page_of_the_repository_is_in_the_table_of_contents_once():
    """Pages that run are `.ipynb` here and `.md` there."""
    assert len(LISTED) == len(set(LISTED))
    pages = [p for p in DOCS.rglob("*") if p.suffix in (".md", ".ipynb")]
    pages = [p for p in [*pages, *ROOT.glob("*.md")] if p.parent != GALLERY]
    here = {p.relative_to(ROOT).with_suffix(".md").as_posix() for p in pages} - {"README.md"}
    if not (ROOT / "CONTRIBUTING.md").exists():  # the tests stand beside a wheel
        here |= {"CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"}
    assert {*LISTED} == here | {"docs/gallery/README.md", "docs/reference/dpfast.rst"}


def test_every_public_name_has_a_page_of_the_reference(tmp_path, monkeypatch):
    site["reference"](tmp_path / "one")
    made = {p.stem for p in (tmp_path / "one").iterdir()}
    assert made == set(walk()) and len(made) > 200
    for name in made:
        page = (tmp_path / "one" / f"{name}.rst").read_text(encoding="utf-8")
        assert re.search(rf"^\.\. (py:module|auto\w+):: {re.escape(name)}$", page, re.M), name
    monkeypatch.setattr(dp.noise, "__all__", dp.noise.__all__[1:])  # planted: one is forgotten
    assert len(set(site["reference"](tmp_path / "other") or walk())) == len(made) - 1
    assert len(list((tmp_path / "other").iterdir())) == len(made) - 1


def test_the_citation_is_of_this_version():
    if not (ROOT / "CITATION.cff").exists():
        pytest.skip("the file is not here")
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(rf"^version: {re.escape(dp.__version__)}$", text, re.M)
    built = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{dp.__version__}"' in built


def unknown_extras(text):
    """The extras that are named where something is installed, and that there are not."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"pip install [^\n]*?\[([a-z,]+)\]", text)
    return {x for group in named for x in group.split(",")} - {*project["optional-dependencies"]}


def test_every_extra_that_a_page_installs_is_there():
    text = "\n".join(
        p.read_text(encoding="utf-8") for p in [ROOT / "README.md", *DOCS.rglob("*.md")]
    )
    assert unknown_extras(text) == set()
    assert unknown_extras('pip install "path/to/dpfast[io,gpu]"') == {"gpu"}  # planted


def test_all_that_is_asked_explains_its_loss_its_bounds_and_its_neighbors():
    """Functions of the first level, whose pages are what a search finds first, and learners."""
    every = dict(site["public"]())
    for name, found in every.items():
        arguments = site["arguments"](found)
        if (name.count(".") == 1 and name[7].islower()) or hasattr(found, "fit"):
            text = site["for_readers"](name, every)
            for argument in {*arguments} & {"bounds", "epsilon", "neighbors"}:
                assert site["EXPLAINED"][argument] in text, (name, argument)


# ---- What comes out. ----


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site, built as a user builds it."""
    pytest.importorskip("furo", reason='the site needs pip install -e ".[site]"')
    if not (ROOT / "CONTRIBUTING.md").exists():
        pytest.skip("the pages are not here")
    out = tmp_path_factory.mktemp("site") / "out"
    done = subprocess.run([sys.executable, BUILD, out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out


class Page(HTMLParser):
    """The ids of a page, what it leads to, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.path, self.ids, self.links, self.loads = path, set(), set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids |= {given.get("id"), given.get("name") if tag == "a" else None}
        if tag == "a":
            self.links |= {given.get("href")} - {None}
        else:
            self.loads |= {given.get("src"), given.get("data"), given.get("poster")} - {None}
            self.loads |= {
                part.split()[0] for part in (given.get("srcset") or "").split(",") if part
            }
            if tag == "link" and given.get("rel") not in ("search", "next", "prev", "index"):
                self.loads.add(given["href"])
            self.loads |= set(re.findall(r"url\(['\"]?([^)'\"]+)", given.get("style") or ""))


def faults(folder):
    """Dead links and anchors, missing files, and what a page or a style would load from afar."""
    page = cache(Page)
    for path in folder.rglob("*.html"):
        own = page(path)
        for link in own.links | own.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in own.loads and parts.scheme != "data":
                    yield path.name, link, "is loaded from afar"
                continue
            target = (path.parent / unquote(parts.path)) if parts.path else path
            if not target.is_file():
                yield path.name, link, "is not there"
            elif parts.fragment and target.suffix == ".html":
                ids = page(target.resolve()).ids
                if unquote(parts.fragment) not in ids:
                    yield path.name, link, "has no such anchor"
    for path in folder.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        for link in re.findall(r"(?:url\(|@import )\s*['\"]?([^)'\"]+)", text):
            if urlsplit(link).scheme not in ("", "data") or link.startswith("//"):
                yield path.name, link, "is loaded from afar"


@pytest.mark.full
def test_no_link_is_dead_and_nothing_is_loaded_from_afar(built):
    assert len(list(built.rglob("*.html"))) > 280
    assert not list(faults(built))


def test_dead_and_remote_ones_are_found(tmp_path):
    """Planted, one each."""
    (tmp_path / "a.html").write_text(
        '<h1 id="x"></h1><a href="#x"></a><a href="https://a.org"></a><img src="a.png">'
        '<a href="b.html"></a><a href="a.html#y"></a><script src="//b.org/c.js"></script>'
    )
    (tmp_path / "a.css").write_text("@import 'https://c.org/d.css'; p { background: url(data:x) }")
    assert {(link, what) for _, link, what in faults(tmp_path)} == {
        *((link, "is not there") for link in ("a.png", "b.html")),
        ("a.html#y", "has no such anchor"),
        *((link, "is loaded from afar") for link in ("//b.org/c.js", "https://c.org/d.css")),
    }


@pytest.mark.full
def test_every_public_name_is_shown_with_its_signature(built):
    for name, found in walk().items():
        path = built / "docs" / "reference" / f"{name}.html"
        text = path.read_text(encoding="utf-8")
        if isinstance(found, ModuleType):
            for own in found.__all__:
                assert f'href="{name}.{own}.html"' in text, (name, own)
            continue
        shown = re.search(rf'<dt [^>]*id="{re.escape(name)}">(.*?)</dt>', text, re.S)
        assert shown, name
        if inspect.isclass(found) and found.__name__ != name.rpartition(".")[2]:
            assert re.search(rf'alias of <a [^>]*href="dpfast.{found.__name__}.html#', text), name
            continue
        for argument in site["arguments"](found):
            assert re.search(rf"\b{argument}\b", shown[1]), (name, argument)


@pytest.mark.full
def test_a_warning_is_an_error(tmp_path):
    """Planted: a home page that leads nowhere."""
    pytest.importorskip("furo", reason='the site needs pip install -e ".[site]"')
    code = f"""
import runpy
from pathlib import Path

site = runpy.run_path({str(BUILD)!r})

def stage(into):
    into.mkdir()
    (into / "README.md").write_text("# A page\\n\\n[none](docs/none.md)\\n")

site["build"].__globals__["stage"] = stage
site["build"](Path({str(tmp_path / "out")!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode != 0 and "docs/none.md" in done.stderr


# ---- What a reader sees. ----


browser = chromium()


def severe(browser):
    return [e for e in browser.get_log("browser") if e["level"] == "SEVERE"]


@pytest.mark.full
def test_pages_and_pictures_are_shown(built, browser):
    pages = [page.rpartition(".")[0] for page in LISTED]
    pictures = 0
    for name in ["index", *pages, "docs/reference/dpfast.median", "docs/gallery/flights"]:
        browser.get((built / f"{name}.html").as_uri())
        assert browser.find_element("tag name", "h1").is_displayed()
        widths = browser.execute_script(
            "return [...document.querySelectorAll('article img')]"
            ".map(i => { i.loading = 'eager'; return i.naturalWidth })"
        )
        assert all(widths) and asked(browser) == {"file"} and not severe(browser), name
        pictures += len(widths)
    assert pictures > 10


@pytest.mark.full
def test_what_a_page_asks_of_the_network_is_noticed(browser, tmp_path):
    """Planted: a picture from a port where nobody is."""
    page = tmp_path / "a.html"
    page.write_text("<h1>x</h1><img src='http://127.0.0.1:64999/a.png'>")
    asked(browser)
    browser.get(page.as_uri())
    assert asked(browser) == {"file", "http"} and severe(browser)


@pytest.mark.full
@pytest.mark.parametrize("words, page", ASKED.items())
def test_a_search_without_a_server_finds_it_first(built, browser, words, page):
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get((built / "index.html").as_uri())
    field = browser.find_element("css selector", "input.sidebar-search")
    field.send_keys(words)
    field.submit()
    links = lambda b: b.find_elements("css selector", "ul.search li a[href*='.html']")  # noqa: E731
    found = WebDriverWait(browser, 30).until(links)[0].get_attribute("href")
    assert f"{page}.html" in found
    browser.get(found)
    assert browser.find_element("tag name", "h1").is_displayed()


@pytest.mark.full
def test_it_is_dark_or_light_as_the_reader_wants(built, browser):
    browser.get((built / "index.html").as_uri())

    def lightness():
        color = browser.find_element("tag name", "body").value_of_css_property("background-color")
        return max(map(int, re.findall(r"\d+", color)[:3]))

    shown = {}
    for theme in ("light", "dark"):
        wish(browser, theme)
        shown[theme] = lightness()
    assert shown["light"] > 240 and shown["dark"] < 40
    seen = set()
    for _ in range(3):  # the button goes round: as the system, light, dark
        browser.find_element("css selector", ".content-icon-container .theme-toggle").click()
        seen.add(lightness())
    assert {x > 128 for x in seen} == {True, False}


#: Pages of each kind: a home, questions with code and tables, sliders, pictures, a reference.
KINDS = [
    "index", "search", "docs/start", "docs/notebooks/first-release", "docs/guide/epsilon",
    "docs/guide/slider", "docs/guide/from-pandas", "docs/guide/from-sql", "docs/guide/used-up",
    "docs/guide/releases", "docs/guide/ledger", "docs/guide/compare", "docs/gallery/README",
    "docs/gallery/flights", "docs/reference/dpfast", "docs/reference/dpfast.median",
]  # fmt: skip
#: What is cut where a table or a page is wider than the window, instead of scrolling in a box with
#: an edge, and cells whose words break.
CUT = """
const found = document.documentElement.scrollWidth > innerWidth ? ['the page is too wide'] : [];
for (const table of [...document.querySelectorAll('table')].filter(x => x.offsetParent)) {
  const box = getComputedStyle(table.closest('[tabindex="0"]') || table);
  const scrolls = ['auto', 'scroll'].includes(box.overflowX) && box.backgroundImage != 'none';
  if (table.scrollWidth > innerWidth && !scrolls) found.push('cut: ' + table.innerText);
  for (const cell of table.querySelectorAll('td, th, td *, th *')) {
    const style = getComputedStyle(cell);
    if (style.overflowWrap == 'anywhere' || style.wordBreak != 'normal')
      found.push('broken: ' + cell.innerText);
  }
}
return found
"""


@pytest.fixture(scope="module")
def axe():
    """The script of axe-core, which looks at a page as those do who cannot see it."""
    if (spec := importlib.util.find_spec("axe_core_python")) is None:
        pytest.skip('needs axe-core: pip install -e ".[site]"')
    return (Path(spec.origin).parent / "axe.min.js").read_text(encoding="utf-8")


def barriers(browser, axe):
    """What axe-core calls serious or critical in the page that is open, with the first example."""
    browser.execute_script(axe)
    violations = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document).then(r => done(r.violations))"
    )
    serious = [v for v in violations if v["impact"] in ("serious", "critical")]
    return {v["id"]: v["nodes"][0]["html"][:200] for v in serious}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a ledger, for whoever answers for the data."""
    ledger = tmp_path_factory.mktemp("report") / "study.db"
    table = {"age": [30, 40, 50], "town": ["a", "b", "b"]}
    s = dp.session(dp.Budget(epsilon=3, delta=1e-6, path=ledger))
    s.median(table["age"], bounds=(0, 120), granularity=1, epsilon=1)
    s.group_by(table, "town", keys=["a", "b"]).mean("age", bounds=(0, 120), epsilon=1)
    s.group_by(table, "town").top_k(1, epsilon=1, delta=1e-6)
    page = ledger.with_suffix(".html")
    command = [sys.executable, "-m", "dpfast", "budget", "report", ledger, "--html"]
    page.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    return page


@pytest.mark.full
@pytest.mark.parametrize("part", range(3))
def test_no_page_has_a_barrier_or_cuts_what_it_shows(built, report, browser, axe, part):
    """Each page in one theme and width: axe takes seconds for one."""
    theme, width = [("light", 400), ("dark", 400), ("dark", 1300)][part]
    wish(browser, theme)
    narrow(browser, width)
    for page in [*(built / f"{name}.html" for name in KINDS[part::3]), report]:
        browser.get(page.as_uri())
        assert (barriers(browser, axe), browser.execute_script(CUT)) == ({}, []), page.name


@pytest.mark.full
def test_barriers_and_cuts_are_caught(browser, axe, tmp_path):
    """Planted: a picture without words, pale letters, a table beyond the window, a word cut."""
    page = tmp_path / "a.html"
    words = "<td style='overflow-wrap: anywhere'>words</td>" + "<td>unbreakable</td>" * 30
    page.write_text(
        "<html lang='en'><title>x</title><main><article><h1>x</h1><img src='data:,'>"
        f"<p style='color: #bbb; background: #fff'>pale</p><table>{words}</table></article></main>"
    )
    narrow(browser, 400)
    browser.get(page.as_uri())
    assert set(barriers(browser, axe)) == {"image-alt", "color-contrast"}
    found = browser.execute_script(CUT)
    assert [x.partition(":")[0] for x in found] == ["the page is too wide", "cut", "broken"]
