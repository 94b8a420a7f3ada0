"""Makes ledgers_form_1.json and ledgers_form_2.json: ledgers as an earlier dpfast wrote them.

Form 1 is that before answers and secrets were sealed, form 2 that before a loss could be of people.
Run with the package as it was then (commits 0a682ac and 879dc62) on the path:

    PYTHONPATH=OLD python tests/reference/vectors/make_ledgers.py

Form 3 is that before a ledger knew its place; its file has the ledgers of form 2 after a write of
nothing by the package of commit 040100c. Form 4 is that before records; its ledgers were made by
the package of commit 9b8a6c39 at a place that is called "here" (`File.identity`).

Each has the bytes of its file (xz, base64) and what the package of then said of it.
"""

from __future__ import annotations

import base64
import json
import lzma
import tempfile
from pathlib import Path

import dpfast as dp
from dpfast.privacy import ZCDP, Pure

try:
    from dpfast._ledger import file
except ImportError:
    from dpfast.budget.ledger import file

HISTOGRAM = [130_000, 40_000, 20_000, 10_000]
EYE = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]]


def plain(path: Path) -> dict[str, object]:
    """Lines, and one answer."""
    budget = dp.Budget(rho=5, path=path, name="größe 'quoted'")
    with budget.noted("a remark"):
        for loss in (Pure(0.1), ZCDP(0.25), ZCDP(5e-324)):
            budget.spend(loss, neighbors="replace", what="мера")
    budget.record(3.5)
    budget.spend(Pure(1), neighbors="add-remove")
    return {}


def empty(path: Path) -> dict[str, object]:
    """No line yet."""
    dp.Budget(epsilon=1, delta=1e-6, path=path, neighbors="replace")
    return {}


def keyed(path: Path) -> dict[str, object]:
    """Lines with keys: one with an answer, one without."""
    budget = dp.Budget(epsilon=1, path=path)
    for key in ("first", "second"):
        with budget.once(key):
            budget.spend(Pure(0.25), neighbors="replace", what="mean")
            if key == "first":
                budget.settle({"value": [3.5, 2]})
    return {"found": {key: budget.entry(key) for key in ("first", "second")}}


def streams(path: Path) -> dict[str, object]:
    """Streams: two that go on, with secrets, one that is over, and a fit."""
    budget = dp.Budget(epsilon=10, path=path, neighbors="replace")
    alarms = dp.online.SparseVector(
        positives=2, threshold=500, epsilon=1, answers=True, budget=budget, name="alarms"
    )
    found = [alarms.answer(value) for value in (3, 1100, 4)]
    over = dp.online.SparseVector(positives=1, threshold=500, epsilon=1, budget=budget, name="over")
    over.answer(10**6)
    shares = dp.online.MedianMechanism(
        HISTOGRAM, epsilon=1, queries=12, accuracy=0.15, budget=budget, name="shares"
    )
    told = [shares.answer(query) for query in EYE]
    fit = dp.online.MWEM(HISTOGRAM, EYE, rounds=3, epsilon=1, budget=budget, name="fit")
    return {
        "alarms": [[a.above, a.value] for a in found],
        "shares": [float(a) for a in told],
        "fit": fit.distribution.tolist(),
        "noise": [secret(alarms), secret(shares)],
    }


def secret(stream: object) -> object:
    """The noise of the threshold, by its name of then."""
    return (stream._gate if hasattr(stream, "_gate") else stream._comparison).rho


def main() -> None:
    assert file.VERSION in (1, 2, 4)
    if file.VERSION == 4:
        file.File.identity = "here"
    made = {}
    for maker in (plain, empty, keyed, streams):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "study.db"
            said = maker(path)
            packed = base64.b64encode(lzma.compress(path.read_bytes(), preset=9)).decode()
            export = json.loads(dp.Budget(path=path).export()) | {"path": None}
        made[maker.__name__] = {"file": packed, "export": export, **said}
    out = Path(__file__).parent / f"ledgers_form_{file.VERSION}.json"
    out.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
