"""Text in remote places, patterns of remote files, and what fsspec is told of a place."""

import gzip
import io
import zipfile

import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, DpfastError, SourceError

pq = pytest.importorskip("pyarrow.parquet")
pa = pytest.importorskip("pyarrow")
fsspec = pytest.importorskip("fsspec")
ASK = {"bounds": (0, 9), "epsilon": 400}


@pytest.fixture
def memory():
    place, packed, parquet = fsspec.filesystem("memory"), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("t.csv", b"k;v\na;6\n")
    pq.write_table(pa.table({"v": [3.0]}), parquet)
    place.store.clear()
    for name, data in {
        "2024-01.csv": b"k;v\na;1\nb;2\n", "2024-02.csv": b"v;k\n4;a\n",
        "2025-01.csv": b"k;v\na;9\n",
        "z.csv.gz": gzip.compress(b"k;v\na;5\n"), "z.csv.zip": packed.getvalue(),
        "all/1.csv": b"k;v\na;7\n", "all/deep/2.csv": b"v;k\n8;a\n", "all/_SUCCESS": b"",
        "year/2024-01.parquet": parquet.getvalue(),
    }.items():  # fmt: skip
        place.pipe(f"/t/{name}", data)
    yield place
    place.store.clear()


PLACES = [
    ("memory://t/2024-01.csv", 3),
    ("memory://t/2024-*.csv", 7),
    ("memory://t/z.csv.gz", 5),
    ("memory://t/z.csv.zip", 6),
    ("memory://*/202?-01.csv", 12),
    ("memory://t/all", 15),
    (["memory://t/2024-02.csv", "memory://t/2025-01.csv"], 13),
    ("memory://t/year/2024-*.parquet", 3),
    ("memory://t/year", 3),
]


@pytest.mark.parametrize("path, due", PLACES)
def test_text_in_a_remote_place(memory, path, due):
    options = {} if "year" in path else {"delimiter": ";"}
    data = dp.scan(path, "v", **options)
    for _ in range(2):
        assert dp.sum(data, **ASK) == pytest.approx(due, abs=0.5)
    files = dp.extend.Files(path, **options)
    assert all(name.startswith("/t/") for name, size, _ in files.identity() if size)
    assert not options or files.check()["faults"] == []


def test_a_remote_file_that_changes_between_passes(memory):
    data = dp.scan("memory://t/2024-01.csv", "v", delimiter=";")
    memory.pipe("/t/2024-01.csv", b"k;v\na;1\nb;2\nc;3\n")
    with pytest.raises(SourceError, match="was changed after it was scanned"):
        dp.sum(data, **ASK)


@pytest.fixture
def told(memory):
    """What a place of its own scheme, whose files are those in memory, has been told."""
    found = []

    class Place(type(memory)):
        protocol = "secretive"

        @classmethod
        def _strip_protocol(cls, path):
            return super()._strip_protocol(path.replace("secretive://", "memory://"))

        def __init__(self, *given, **options):
            found.append(options)
            super().__init__(*given)

    fsspec.register_implementation("secretive", Place, clobber=True)
    return found


def test_what_fsspec_is_told_reaches_it_and_no_error(told):
    path = "secretive://t/2024-01.csv"
    data = dp.scan(path, "v", delimiter=";", storage_options={"key": "PASSWORD"})
    assert told[0] == {"key": "PASSWORD"}
    assert dp.sum(data, **ASK) == pytest.approx(3, abs=0.5)
    assert "PASSWORD" not in repr(data) + str(data.store.identity())
    with pytest.raises(DpfastError) as caught:
        dp.scan("secretive://t/no.csv", "v", storage_options={"key": "PASSWORD"})
    assert "PASSWORD" not in str(caught.value)
    for wrong in ("key", {1: 2}):
        with pytest.raises(ArgumentTypeError, match="storage_options must be a mapping") as caught:
            dp.scan(path, "v", storage_options=wrong)


def test_places_that_are_not_there(memory, tmp_path):
    for path in (
        "memory://t/no.csv",
        "memory://t/no-*.csv",
        "memory://no/*.csv",
        "nowhere://x.csv",
    ):
        with pytest.raises(SourceError):
            dp.scan(path, "v")
    (tmp_path / "t.csv").write_text("v\n1\n")
    with pytest.raises(ArgumentError, match="storage_options must be left out") as caught:
        dp.scan(tmp_path / "t.csv", "v", storage_options={"key": "PASSWORD"})
    assert "PASSWORD" not in str(caught.value)
    with pytest.raises(ArgumentError, match="path must be a list of paths in one storage"):
        dp.scan([tmp_path / "t.csv", "memory://t/2024-01.csv"], "v")


def test_a_job_reads_a_remote_place_with_a_secret_of_the_environment(told, tmp_path, monkeypatch):
    job = tmp_path / "job.toml"
    job.write_text(
        '[data]\npath = "secretive://t/2024-*.csv"\ndelimiter = ";"\n'
        'storage_options = {key = "${SECRET}"}\n[budget]\nepsilon = 400\n'
        '[[release]]\nstatistic = "sum"\ncolumn = "v"\nbounds = [0, 9]\n'
    )
    with pytest.raises(ArgumentError, match=r"storage_options\.key must be a text whose env"):
        dp.job.run(job)
    monkeypatch.setenv("SECRET", "PASSWORD")
    assert dp.job.run(job)["sum of v"] == pytest.approx(7, abs=0.5)
    assert told[0] == {"key": "PASSWORD"}
    assert "PASSWORD" not in str(dp.job.explain(job))
