"""The page of a job's answers as a reader sees it: in a browser, narrow or wide, dark or light."""

import html
import json
import re

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

from dpfast import job  # noqa: E402
from dpfast.app.job import output  # noqa: E402

from ..support.browser import asked, chromium, narrow, wish  # noqa: E402
from .conftest import releases  # noqa: E402

pytestmark = pytest.mark.full
browser = chromium()
GROUPS = {"by": "carrier", "keys": ["AS", "HA", "UA", "Nobody-flies-with-this-<b>carrier</b>"]}
JOB = """
[data]
path = "flights.parquet"
[budget]
epsilon = 0.5
name = "How late the flights of all carriers from New York were in 2013"
[defaults]
column = "delay"
bounds = [-60, 300]
"""
JOB += releases(
    {"name": "mean delay in minutes of all flights that have one", "statistic": "mean"},
    {"statistic": "quantiles", "qs": [0.1, 0.5, 0.9]},
    {"name": "of nothing", "statistic": "mean", "column": "gap", "bounds": [0, 1]},
    {"name": "bins", "statistic": "histogram", "bins": 6},
    {"name": "carriers", **GROUPS},
)
JOB += '[release.agg.flights]\nstatistic = "count"\n'
JOB += '[release.agg.delay]\nstatistic = "sum"\ncolumn = "delay"\nbounds = [-60, 300]\n'


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    rng, n = np.random.default_rng(13), 20_000
    carrier = rng.choice(3, n)
    columns = {
        "carrier": np.array(["AS", "HA", "UA"])[carrier],
        "delay": np.array([-20.0, 2.0, 30.0])[carrier] + rng.normal(0, 30, n),
        "gap": np.full(n, np.nan),
    }
    pq.write_table(pa.table(columns), folder / "flights.parquet")
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    results = job.run(folder / "job.toml", report=folder / "out.html")
    return folder / "out.html", list(output.rows(results))


#: The parts of text that are shown, with the contrast of their letters with what is behind them.
CONTRASTS = """
const light = c => {
  const [r, g, b] = c.map(x => x / 255).map(
    x => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const numbers = s => s.match(/[0-9.]+/g).map(Number);
const behind = numbers(getComputedStyle(document.body).backgroundColor);
const told = [...document.querySelectorAll('h1, h2, p, th, td')].filter(e => e.innerText.trim());
return told.map(e => {
  const style = getComputedStyle(e), part = Number(style.opacity);
  const own = numbers(style.color).slice(0, 3).map((x, i) => x * part + behind[i] * (1 - part));
  const [a, b] = [light(own), light(behind.slice(0, 3))].sort((x, y) => y - x);
  return [e.innerText, (a + 0.05) / (b + 0.05), parseFloat(style.fontSize)];
});
"""
BARS = """
const behind = getComputedStyle(document.body).backgroundColor;
return ['rect', 'path'].map(kind => [...document.querySelectorAll('svg ' + kind)].map(e => {
  const box = e.getBoundingClientRect(), style = getComputedStyle(e);
  const own = kind == 'path' ? style.stroke : style.fill;
  return box.width > 0 && (kind == 'path' || box.height > 0) && own != behind;
}));
"""
WIDTHS = "return [document.documentElement.scrollWidth, innerWidth]"


def faults(browser, path, width=1300, theme="light", bars=None):
    """What a reader of this page would complain of."""
    wish(browser, theme)
    narrow(browser, width)
    asked(browser)
    browser.get(path.as_uri())
    drawn, errors = browser.execute_script(BARS)
    if not all(drawn + errors):
        yield "a bar cannot be seen"
    if bars is not None and [len(drawn), len(errors)] != bars:
        yield "a bar is missing"
    if browser.execute_script("return document.scripts.length"):
        yield "a script"
    if asked(browser) != {"file"}:
        yield "loaded from afar"
    texts = browser.execute_script(CONTRASTS)
    if not texts or any(contrast < 4.5 or size < 12 for _, contrast, size in texts):
        yield "a text is hard to read"
    wide, window = browser.execute_script(WIDTHS)
    if wide > window:
        yield "wider than the window"


@pytest.mark.parametrize("planted", [False, True])
def test_no_name_is_markup(tmp_path, monkeypatch, planted):
    """Names of job, release, column, folder and key, of which the last comes from a row."""
    if planted:  # a page that gets names as they are
        monkeypatch.setattr("dpfast.app.job.page.escape", str)
    bad = "<script>\"'&"
    folder = tmp_path / "<script>"
    folder.mkdir()
    columns = {bad: np.zeros(50), "carrier": np.array([bad] * 50)}
    pq.write_table(pa.table(columns), folder / "flights.parquet")
    text = '[data]\npath = "flights.parquet"\n[budget]\nepsilon = 9\ndelta = 1e-3\n'
    text += f"name = {json.dumps(bad)}\n" + releases(
        {"name": bad, "statistic": "mean", "column": bad, "bounds": [0, 1]},
        {"name": "keys", "by": "carrier", "statistic": "count"},
    )
    (folder / "job.toml").write_text(text, encoding="utf-8")
    job.run(folder / "job.toml", report=folder / "out.html")
    shown = (folder / "out.html").read_text(encoding="utf-8")
    found = {tag for tag in re.findall(r"<(\w+)", shown)}
    assert ("script" in found) == planted
    if not planted:
        assert shown.count(html.escape(bad)) >= 4


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1300])
def test_a_page_is_readable(browser, page, width, theme):
    path, rows = page
    bars = [sum(row.get(own) is not None for row in rows) for own in ("value", "half_width")]
    bars = [number - 2 for number in bars]  # a mean alone has no drawing, and there are two
    assert list(faults(browser, path, width, theme, bars)) == []
    lightness = browser.find_element("tag name", "body").value_of_css_property("background-color")
    assert (max(map(int, re.findall(r"\d+", lightness)[:3])) > 128) == (theme == "light")


def test_a_telephone_shows_it_in_its_own_width(browser, page):
    """Without a word of it in the page, a small screen shows a wide page in small letters."""
    size = {"width": 400, "height": 800, "deviceScaleFactor": 2, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get(page[0].as_uri())
    assert browser.execute_script(WIDTHS) == [400, 400]
    plain = re.sub(r"<meta name=.viewport.[^>]*>", "", page[0].read_text(encoding="utf-8"))
    page[0].with_name("plain.html").write_text(plain, encoding="utf-8")  # planted: not said
    browser.get(page[0].with_name("plain.html").as_uri())
    assert browser.execute_script(WIDTHS)[1] > 400


@pytest.mark.parametrize(
    "right, wrong, fault",
    [
        ("svg rect {", "svg rect { height: 0;", "a bar cannot be seen"),
        ("svg rect { fill: var(--bar)", "svg rect { fill: light-dark(#fff, #181818)",
         "a bar cannot be seen"),
        ("path { stroke: var(--ink)", "path { stroke: light-dark(#fff, #181818)",
         "a bar cannot be seen"),
        ("</body>", "<script></script></body>", "a script"),
        ("</body>", "<img src='http://127.0.0.1:64999/a.png'></body>", "loaded from afar"),
        ("color: var(--ink)", "color: #777", "a text is hard to read"),
        (".note {", "td { font-size: 9px } .note {", "a text is hard to read"),
        ("</body>", "<p style='width: 500px'>wide</p></body>", "wider than the window"),
    ],
)  # fmt: skip
def test_faults_are_noticed(browser, page, right, wrong, fault):
    """Planted, one each."""
    text = page[0].read_text(encoding="utf-8")
    assert text.count(right) == 1
    path = page[0].with_name("planted.html")
    path.write_text(text.replace(right, wrong), encoding="utf-8")
    assert fault in [*faults(browser, path, 400, "light"), *faults(browser, path, 400, "dark")]
