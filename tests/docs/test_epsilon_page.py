"""The page of sliders computes what the library computes."""

import json
import math
import shutil
import subprocess

import pytest

import dpfast as dp

from ..support.pages import DOCS

SLIDER = (DOCS / "site" / "slider.html").read_text(encoding="utf-8")
#: Epsilon of all releases, releases, belief before, rows, width of the bounds.
CASES = [(1, 1, 0.1, 10_000, 120), (0.1, 1, 0.5, 100_000, 1), (2, 4, 0.01, 50_000, 360)]


@pytest.fixture(scope="module")
def figures():
    """What the script of the page says of each case."""
    if not shutil.which("node"):
        pytest.skip("needs node")
    script = SLIDER.split("<script>")[1].split("</script>")[0]
    code = f"{script}\nconsole.log(JSON.stringify({json.dumps(CASES)}.map((c) => figures(...c))))"
    done = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_sliders_say_what_the_library_says(figures):
    for shown, (epsilon, releases, prior, rows, width) in zip(figures, CASES, strict=True):
        part, odds = epsilon / releases, prior / (1 - prior) * math.exp(epsilon)
        assert shown["posterior"] == pytest.approx(odds / (1 + odds))
        assert shown["power"] == pytest.approx(
            min(0.05 * math.exp(epsilon), 1 - 0.95 * math.exp(-epsilon))
        )
        assert shown["count"] == dp.expected_error(dp.count, [1.0], epsilon=part).half_width
        mean = {"bounds": (0, width), "epsilon": part, "rows": rows}
        bar = dp.expected_error(dp.mean, [1.0], **mean).half_width
        assert shown["mean"] == pytest.approx(bar, rel=0.1)
        assert shown["share"] == pytest.approx(shown["mean"] / width)
