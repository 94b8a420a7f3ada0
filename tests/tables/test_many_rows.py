"""Files of more rows than one piece has: which row is which does not hang on how they are cut."""

import functools

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import dpfast as dp
from dpfast.rng import InsecureGenerator
from dpfast.tables import files
from dpfast.tables.arrow import BATCH
from dpfast.tables.columns import ROWS

from ..support.battery import CASES, X, same
from ..support.pairwise import quick_rows

#: The rows of the battery so often that there are more than two pieces of them.
TIMES = (2 * BATCH) // len(X) + 30
N = TIMES * len(X)
CASES_OF_ROWS = {
    name: case
    for name, case in CASES.items()
    if case.form in ("column", "table") and {"ids", "where"} & set(case.rows)
    if len(case.data) == len(X) and "weights" not in case.rows  # which stand beside memory alone
}
FORMATS = ("parquet", "csv", "arrow", "npy")


def test_there_is_more_than_one_piece():
    assert max(2 * BATCH, ROWS) < N
    assert len(CASES_OF_ROWS) > 30


@functools.cache
def folder(place):
    """A table of all columns that a case may want, in each format."""
    columns = {"id": np.arange(N) // 2, "town": np.arange(N) % 41}
    for name, values in (("x", X), ("x2", X[::-1])):
        columns[name] = np.tile(values, TIMES)
    table = pa.table(columns)
    pq.write_table(table, place / "t.parquet", row_group_size=50_000)
    pyarrow.csv.write_csv(table, place / "t.csv")
    with pyarrow.ipc.new_file(place / "t.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=90_000)
    np.save(place / "t.npy", table.to_pandas().to_records(index=False))
    return table


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("rows")


@quick_rows(21)
@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", CASES_OF_ROWS)
def test_a_mask_and_ids_meet_their_rows(place, ending, name):
    case, table = CASES_OF_ROWS[name], folder(place)
    more = {one: np.tile(case.kw[one], TIMES) for one in case.rows if one != "ids"}
    if "ids" in case.rows:
        more["ids"] = "id"
    names = ["x", "x2"] if case.form == "table" else "x"
    rng = {"rng": InsecureGenerator(8)}
    found = case(dp.scan(place / f"t.{ending}", names), case.losses[0], **more, **rng)
    frame = table.to_pandas()
    if "ids" in case.rows:
        more["ids"] = frame["id"].to_numpy()
    rows = frame[names].to_numpy()
    assert same(found, case(rows, case.losses[0], **more, **{"rng": InsecureGenerator(8)}))


@pytest.mark.parametrize("ending", FORMATS)
def test_groups_of_people_and_a_mask(place, ending):
    frame = folder(place).to_pandas()
    where = np.arange(N) % 3 > 0
    asked = {"keys": np.arange(0, 40, 4), "ids": "id", "max_groups": 1, "max_rows": 1}
    answers = [
        dp.group_by(data, "town", **asked).count(where=where, epsilon=1, rng=InsecureGenerator(8))
        for data in (frame, dp.scan(place / f"t.{ending}", ["town"]))
    ]
    np.testing.assert_equal(*answers)


def test_rows_that_are_numbered_by_their_piece_are_caught(place, monkeypatch):
    """A reader that counts from 0 in each piece."""
    folder(place)

    reduce = files.Reader.reduce

    def numbered_anew(self, want, convert, *more):
        return reduce(self, want, lambda _, pieces: convert(0, pieces), *more)

    def counts():
        where = np.arange(N) < BATCH
        data = dp.scan(place / "t.parquet", "x")
        return dp.sum(data, where=where, bounds=(0, 100), epsilon=100, rng=InsecureGenerator(8))

    due = counts()
    monkeypatch.setattr(files.Reader, "reduce", numbered_anew)
    assert counts() != due
