"""Damaged files, each read by releases in a process that may die of it. Run as a program, with a
format, a number of the first file, how many, and the name of a planted fault, it prints a line for
each file before it is read and one with what became of it."""

import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKER = "HIV-positive"
FORMATS = {"csv": "t.csv", "csv.gz": "t.csv.gz", "csv.zip": "t.csv.zip", "npy": "t.npy",
    "records": "t.npy", "npz": "t.npz.npy", "arrow": "t.arrow", "stream": "t.arrows",
    "feather": "t.feather", "parquet": "t.parquet"}  # fmt: skip
#: Seconds after which a file is said to hang.
PATIENCE = 60
#: Bytes that a child may take, so that an absurd size is an error and not the end of the machine.
ROOM = 6 << 30


def whole(form, folder):
    """The bytes of a sound file."""
    import io

    import numpy as np
    import pyarrow as pa
    from pyarrow import csv, feather, parquet

    n = 600
    at = np.arange(n)
    path = folder / ("whole." + FORMATS[form].split(".", 1)[1])
    words = [(MARKER, "b", "c\u00e9")[i % 3] for i in at]
    if form in ("npy", "npz"):
        matrix = np.arange(3.0 * n).reshape(n, 3)
        with path.open("wb") as file:
            if form == "npz":
                np.savez(file, matrix)
            else:
                np.save(file, matrix)
    elif form == "records":
        records = np.zeros(n, [("v", "<f8"), ("i", "<i4"), ("s", "U12"), ("b", "?")])
        records["v"], records["i"], records["s"] = at, at, words
        np.save(path, records)
    else:
        table = pa.table({"v": pa.array(at * 1.5, mask=at % 7 == 0), "i": pa.array(at),
            "s": pa.array(words), "d": pa.array(words).dictionary_encode(),
            "b": pa.array(at % 2 == 0, mask=at % 5 == 0)})  # fmt: skip
        if form.startswith("csv"):
            made = io.BytesIO()
            csv.write_csv(table, made)
            path.write_bytes(packed(form, made.getvalue()))
        elif form == "parquet":
            parquet.write_table(table, path, row_group_size=70)
        elif form == "feather":
            feather.write_feather(table, path, chunksize=70)
        else:
            new = pa.ipc.new_stream if form == "stream" else pa.ipc.new_file
            with new(path, table.schema) as out:
                out.write_table(table, max_chunksize=70)
    return path.read_bytes()


def packed(form, text):
    import gzip
    import io
    import zipfile

    if form == "csv.gz":
        return gzip.compress(text, mtime=0)
    if form == "csv.zip":
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("t.csv", text)
        return made.getvalue()
    return text


def damaged(data, dice):
    """Flipped bits, cuts, splices, sizes that are absurd: mostly where the headers are."""
    data = bytearray(data)

    def place():
        ends = min(len(data), dice.choice([64, 512, 4096, len(data)]))
        at = dice.randrange(ends)
        return at if dice.random() < 0.5 else len(data) - 1 - at

    for _ in range(dice.choice([1, 1, 1, 2, 4])):
        if not data:
            break
        at, kind = place(), dice.choices(range(6), [8, 3, 4, 2, 1, 1])[0]
        if kind == 0:
            data[at] ^= 1 << dice.randrange(8)
        elif kind == 1:
            data[at] = dice.choice([0, 1, 127, 128, 255, (data[at] + 1) % 256, dice.randrange(256)])
        elif kind == 2:
            size = dice.choice([2, 4, 8])
            value = dice.choice([0, 1, 2**31 - 1, 2**31, 2**40, 2**63 - 1, 2**64 - 1])
            data[at : at + size] = (value % 2 ** (8 * size)).to_bytes(size, "little")
        elif kind == 3:  # over something else
            some = data[at : at + dice.choice([1, 8, 100, 5000])]
            to = place()
            data[to : to + len(some)] = some
        elif kind == 4:  # between other things
            data[place() : 0] = data[at : at + dice.choice([1, 8, 100, 5000])]
        elif dice.random() < 0.5:
            del data[at:]
        else:
            del data[:at]
    return bytes(data)


def releases(path, form, dice):
    """Some releases of a file, on a budget that is told what they cost."""
    import numpy as np

    import dpfast as dp

    matrix = form in ("npy", "npz")
    number, others = ("0", ["1", "2"]) if matrix else ("v", ["i", "v"])
    kw = {"bounds": (0, 900), "epsilon": 1, "nan": 0}
    ids = None if matrix else dice.choice(["s", "i", "s" if form == "records" else "d"])
    every = [lambda: dp.median(dp.scan(path, number), **kw),
        lambda: dp.mean(dp.scan(path, number), **kw),
        lambda: dp.mean(dp.scan(path, others), axis=0, **kw), lambda: dp.mean(dp.scan(path), **kw),
        lambda: dp.sample_and_aggregate(dp.scan(path, number), "mean", blocks=10, ids=ids,
        bounds=(0, 900), epsilon=1), lambda: dp.job.explain(job(path, number)),
        lambda: dp.job.run(job(path, number)).check()]  # fmt: skip
    if not matrix:
        words = dice.choice(["s", "s" if form == "records" else "d"])
        every += [lambda: dp.histogram(dp.scan(path, words), categories=["b", "x"], epsilon=1),
            lambda: dp.mean(dp.scan(path, "b"), bounds=(0, 1), epsilon=1, nan=0)]  # fmt: skip
    for call in dice.sample(every, 2):
        with np.errstate(all="ignore"):
            yield call


def job(path, column):
    made = path.with_name("job.toml")
    made.write_text(
        f'[data]\npath = "{path}"\n[budget]\nepsilon = 1\n[[release]]\nname = "m"\n'
        f'statistic = "mean"\ncolumn = "{column}"\nbounds = [0, 9]\nnan = 0\n'
    )
    return made


def outcome(call):
    """What became of a release, in a word: never a foreign one, nor one that shows a row."""
    import traceback

    from dpfast.errors import DpfastError

    try:
        call()
    except DpfastError as error:
        shown = "".join(traceback.format_exception(error))
        seen = error
        while seen is not None:
            shown, seen = shown + str(seen), seen.__cause__ or seen.__context__
        if MARKER in shown:
            return "SHOWN"
        return type(error).__name__
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"FOREIGN:{type(error).__name__}:{Path(where.filename).name}:{where.lineno}"
    return "answer"


def plant(fault):
    from dpfast.tables import arrow, files, ipc, npy, parquet, text

    if fault == "foreign":  # what a library raises is passed on
        for module in (ipc, npy, parquet, text):
            module.opening = lambda path, form, open_it: open_it()
            module.guarded = lambda path, rows: (yield from rows)
    elif fault == "statistics":  # a footer's word on single column chunks
        real = parquet._footer

        def looks(path):
            found = real(path)
            for group in range(found.footer.num_row_groups):
                for column in range(found.footer.num_columns):
                    _ = found.footer.row_group(group).column(column).statistics
            return found

        parquet._footer = looks
    elif fault == "signal":  # a look at what is no longer there
        files._stamp = lambda path: os.kill(os.getpid(), 7)
    elif fault == "hang":
        files._stamp = lambda path: threading.Event().wait()
    elif fault == "shown":
        arrow.hide_error = lambda error: MARKER


def main(form, first, count, fault):
    import resource
    import warnings

    os.environ["DPFAST_NUM_THREADS"] = "1"
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))
    warnings.simplefilter("ignore")
    import dpfast.app.job  # noqa: F401

    plant(fault)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sound = whole(form, folder)
        path = folder / FORMATS[form]
        for number in range(first, first + count):
            dice = random.Random(f"{form}{number}")
            data = damaged(sound, dice)
            if form == "csv" and MARKER.encode() in re.split(rb"[\r\n]", data.lstrip(b"\r\n"))[0]:
                continue  # a text file whose first line is not its header: names are shown
            path.write_bytes(data)
            print(number, flush=True)
            print(number, *[outcome(call) for call in releases(path, form, dice)], flush=True)


def run(form, count, fault="none", patience=PATIENCE):
    """What became of `count` damaged files, as a `Counter`, and files of which it is not good."""
    found, bad, first = Counter(), [], 0
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    while first < count:
        command = [sys.executable, "-m", "tests.support.damage", form, str(first),
            str(count - first), fault]  # fmt: skip
        with (
            tempfile.TemporaryFile("w+") as said,
            subprocess.Popen(
                command, cwd=ROOT, env=env, text=True, stdout=subprocess.PIPE, stderr=said
            ) as child,
        ):
            for number, words in lines(child, patience):
                if words:
                    found.update(words)
                    first = number + 1
                else:
                    first = number  # begun
                if any(word.startswith(("FOREIGN", "SHOWN")) for word in words):
                    bad.append((number, words))
            said.seek(0)
            errors = said.read()
        words = [f"SIGNAL:{-child.returncode}"] if child.returncode else []
        words += ["SHOWN"] if MARKER in errors else []
        if words:
            found.update(words)
            bad.append((first, [*words, errors[-300:]]))
        if not child.returncode:
            break
        first += 1
    return found, bad


def lines(child, patience):
    """The number of each file and what became of it: nothing at first, and if it was the end."""
    while True:
        timer = threading.Timer(patience, child.kill)
        timer.start()
        line = child.stdout.readline()
        timer.cancel()
        if not line:
            return
        number, *words = line.split()
        yield int(number), words


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
