"""The streamed passes of `memory.py`, each in a process of its own, over a small file."""

import pytest

pytest.importorskip("pyarrow")

from . import memory, stream
from .conftest import rows


def test_streamed_passes_are_exact(tmp_path, capsys):
    stream.write(tmp_path / "t.parquet", rows(4_000_000))
    memory.stream_by(tmp_path / "t.parquet", columns=("age",), threads=(2,))
    shown = capsys.readouterr().out.splitlines()
    assert [line.split("|")[3].strip() for line in shown[-5:]] == [
        *("scan", "count", "sum"),
        *("mean", "histogram"),
    ]
