"""Rows with labels: every form of them is the same rows, and what is refused before a pass."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DataError
from dpfast.learn.columns import Classes, attributes
from dpfast.learn.rows import labeled_rows
from dpfast.tables import memory
from dpfast.tables.base import RowChunk

X = np.arange(60.0).reshape(20, 3) % 7
Y = np.arange(20.0) % 3 - 1
NAMES = ["a", "b", "c"]


def read(made, most=1 << 14):
    """All features and labels, as one pass sees them."""
    found = made.reduce(
        lambda pieces: [(x.copy(), np.array(y, np.float64)) for x, y in pieces],
        lambda a, b: a + b,
        most,
    )
    if not found:
        return np.empty((0, made.width)), np.empty(0)
    return np.concatenate([x for x, _ in found]), np.concatenate([y for _, y in found])


def table():
    return {"a": X[:, 0], "y": Y, "b": X[:, 1], "c": X[:, 2]}


def records():
    rows = zip(X[:, 0], Y, X[:, 1], X[:, 2], strict=True)
    return np.array(list(rows), [("a", "f4"), ("y", "i8"), ("b", ">f8"), ("c", "f8")])


def scanned(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame(table()).to_parquet(path)
    return path


FORMS = {
    "matrix": lambda: (X, Y),
    "fortran": lambda: (np.asfortranarray(X), Y.astype("i2")),
    "float32": lambda: (X.astype("f4"), Y.astype(">f8")),
    "lists": lambda: (X.tolist(), Y.astype(int).tolist()),
    "beside a table": lambda: (pd.DataFrame(X, columns=NAMES), pd.Series(Y.astype(int))),
    "arrow labels": lambda: (X, pa.array(Y)),
    "mapping": lambda: (table(), "y"),
    "pandas": lambda: (pd.DataFrame(table()), "y"),
    "arrow": lambda: (pa.table(table()), "y"),
    "records": lambda: (records(), "y"),
}


@pytest.mark.parametrize("most", [1 << 14, 7])
@pytest.mark.parametrize("form", list(FORMS))
def test_every_form_is_the_same_rows(form, most):
    made = labeled_rows(*FORMS[form](), width=3)
    x, y = read(made, most)
    assert made.width == 3 and made.length == 20
    assert (x == X).all() and (y == Y).all()


def test_a_column_of_a_file(tmp_path):
    path = scanned(tmp_path)
    for given in (dp.scan(path, NAMES), dp.scan(path, ["y", *NAMES])):
        x, y = read(labeled_rows(given, "y"))
        assert (x == X).all() and (y == Y).all()
    x, y = read(labeled_rows(dp.scan(path, "b"), "y"))
    assert (x == X[:, 1:2]).all() and (y == Y).all()
    x, y = read(labeled_rows(dp.scan(path, NAMES), Y))
    assert (x == X).all() and (y == Y).all()


def test_columns_of_text(tmp_path):
    """Features and labels that are words are their numbers; another word is NaN."""
    colors, answers = np.array(["red", "blue"] * 10), np.array(["no", "yes", "?", "yes"] * 5)
    frame = pd.DataFrame({"color": colors, "size": X[:, 0], "answer": answers})
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    columns = attributes(None, None, [["red", "blue"], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]])
    classes = Classes(["no", "yes"]).axis
    features = frame[["color", "size"]]
    forms = [
        (frame, "answer"),
        (dp.scan(path, ["color", "size"]), "answer"),
        (features, answers),
        (features, frame["answer"]),
    ]
    for given in forms:
        x, y = read(labeled_rows(*given, columns, classes))
        assert (x[:, 0] == [0, 1] * 10).all() and (x[:, 1] == X[:, 0]).all()
        assert np.array_equal(y, [0, 1, np.nan, 1] * 5, equal_nan=True)
    numbers = pd.DataFrame({**table(), "answer": answers}).drop(columns="y")
    x, y = read(labeled_rows(numbers, "answer", classes=classes))
    assert (x == X).all() and np.array_equal(y, [0, 1, np.nan, 1] * 5, equal_nan=True)


def test_labels_stay_with_their_rows_in_every_chunk(monkeypatch):
    n = 3 << 18
    x = np.arange(2.0 * n).reshape(n, 2)
    y = np.arange(n)
    for threads, direct in ("1", 1 << 23), ("1", 160_016), ("3", 1 << 23):
        monkeypatch.setenv("DPFAST_NUM_THREADS", threads)
        monkeypatch.setattr(memory.MemoryRows, "DIRECT", direct)
        made = labeled_rows(x, y)
        same = made.reduce(
            lambda pieces: sum(int((a[:, 0] == 2 * b).sum()) for a, b in pieces),
            lambda a, b: a + b,
        )
        assert same == n


class Unknown:
    """Rows whose number nobody knows before they are read."""

    def __init__(self, rows):
        self.rows, self.dtype, self.width, self.length, self.array = rows, rows.dtype, 3, None, None

    def reduce(self, summarize, merge):
        return merge(
            summarize(RowChunk(self.rows[:8], 0)),
            summarize(RowChunk(self.rows[8:], 8)),
        )


@pytest.mark.parametrize("labels", [Y[:-1], np.append(Y, 1.0)])
def test_another_number_of_labels(labels):
    with pytest.raises(ArgumentError, match="y must be as long as the data, 20 rows"):
        labeled_rows(X, labels)
    for made in labeled_rows(Unknown(X), labels), labeled_rows(X, labels, relation="add-remove"):
        with pytest.raises(DataError, match="y must be as many as the rows"):
            read(made)
    assert (read(labeled_rows(Unknown(X), Y))[1] == Y).all()


@pytest.mark.parametrize(
    "given",
    [
        (X, None),
        (X, 1.0),
        (X, "y"),
        (table(), "why"),
        (X, np.stack([Y, Y], axis=1)),
        (X, np.array(["yes"] * 20)),
        ({"y": Y}, "y"),
        ("text", Y),
    ],
    ids=range(8),
)
def test_what_is_refused(given):
    with pytest.raises((ArgumentError, ArgumentTypeError)):
        labeled_rows(*given)


def test_no_rows():
    x, y = read(labeled_rows(X[:0], Y[:0]))
    assert x.shape == (0, 3) and y.shape == (0,)
