"""What one row can change: its own number and the answer, and nothing else. Every public release,
found by its signature, over every container that has no dtype and every nullable type: any row is
replaced by each of some seventy hostile values. What is refused before the spend, the type and
shape of an answer, warnings, files, and what is read of all *other* rows stay what they were. No
message shows a row."""

import inspect
import itertools
import os
import sys
import warnings
from collections import UserList, deque

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError, DataError, DpfastError
from dpfast.groups import keys as group_keys
from dpfast.rng import InsecureGenerator
from dpfast.statistics import categories
from dpfast.tables import Source, forms, intake, untyped
from dpfast.tables.batches import Batches

from .support import hostile
from .support.attacks import OwnCount
from .support.battery import CASES, NO_RELEASES, Case, public
from .support.lazy import pl
from .support.pairwise import full_rows, quick_rows
from .support.surface import LEARNERS

VALUES = hostile.values()
N = 24
RNG = np.random.default_rng(8)

#: All rows of one kind, so that one of another kind would be the first: what reads them by a common
#: type then reads all others in another way.
T = (1_700_000_000 * 10**9 // 2**17) * 2**17 + 2**17 - 1
COLUMNS = {"integers beyond 2**53": [T + int(k) for k in RNG.integers(0, 50, N)],
    "truths": [bool(k) for k in RNG.integers(0, 2, N)],
    "numbers": [float(k) / 4 for k in RNG.integers(0, 400, N)],
    "one number": [1.5] + [None] * (N - 1)}  # fmt: skip
WORDS = [str(one) for one in np.array(["tea", "ale", "rye"])[RNG.integers(0, 3, N)]]


def objects(some):
    out = np.empty(len(some), object)
    for i, one in enumerate(some):
        out[i] = one
    return out


#: Containers that say nothing of what they hold.
UNTYPED = {"list": list, "tuple": tuple, "deque": deque, "UserList": UserList, "objects": objects,
    "pandas": lambda some: pd.Series(objects(some), dtype=object)}  # fmt: skip
#: Nullable containers by the type that they declare, with rows of it; one of them may be null.
TYPED = {
    "pandas Int64": (lambda some: pd.Series(some, dtype="Int64"), int),
    "pd.array Int64": (lambda some: pd.array(some, dtype="Int64"), int),
    "pandas Float64": (lambda some: pd.Series(some, dtype="Float64"), float),
    "pandas boolean": (lambda some: pd.Series(some, dtype="boolean"), bool),
    "pd.array boolean": (lambda some: pd.array(some, dtype="boolean"), bool),
    "pandas int64[pyarrow]": (lambda some: pd.Series(some, dtype="int64[pyarrow]"), int),
    "Categorical": (lambda some: pd.Categorical(some, categories=list(range(100))), int),
    "index": (lambda some: pd.Index(some, dtype="Int64"), int),
    "index of truths": (lambda some: pd.Index(some, dtype="boolean"), bool),
    "categorical index": (lambda some: pd.CategoricalIndex(some, categories=list(range(9))), int),
    "sparse": (lambda some: pd.arrays.SparseArray(np.array([k or 0 for k in some], "u1")), int),
    "sparse series": (lambda some: pd.Series(some, dtype=pd.SparseDtype("f4", np.nan)), float),
    "Arrow int64": (lambda some: pa.array(some, pa.int64()), int),
    "Arrow bool": (lambda some: pa.array(some, pa.bool_()), bool),
    "Arrow float": (lambda some: pa.array(some, pa.float32()), float),
    "chunks": (lambda some: pa.chunked_array([some[:5], some[5:]], pa.uint16()), int),
    "Polars Int64": (lambda some: pl.Series(some, dtype=pl.Int64), int),
    "Polars Boolean": (lambda some: pl.Series(some, dtype=pl.Boolean), bool),
    "masked": (lambda some: np.ma.array([one or 0 for one in some],
        mask=[one is None for one in some]), int),
}  # fmt: skip


def learner(make, labels=None, **kw):
    def call(data, *, epsilon, budget=None, rng=None, y=labels):
        given = () if y is None else (y,)
        found = make(epsilon=epsilon, **kw).fit(data, *given, budget=budget, rng=rng)
        public = {k: v for k, v in vars(found).items() if k.endswith("_")}
        return [public[key] for key in sorted(public)]

    return call


def validated(data, *, epsilon, budget=None, rng=None):
    made = dp.learn.LinearRegression(y_bounds=(0, 1), **TWO)
    kw = {"epsilon": epsilon, "cv": 2, "budget": budget, "rng": rng}
    return dp.learn.cross_validate(made, data, np.ones(N), **kw).scores


def sums(data, *, epsilon, budget=None, rng=None):
    own = dp.sulq.NoisySums(data, epsilon=epsilon, queries=2, budget=budget, rng=rng, nan="drop")
    return [own.sum("value", bounds=(0, 1)), own.sum("count")]


def oracle(data, *, epsilon, budget=None, rng=None):
    made = dp.sulq.StatisticalQueryOracle(
        data, tolerance=0.9, queries=1, epsilon=10**6 * epsilon, rows=N, nan="drop",
        budget=budget, rng=rng,
    )  # fmt: skip
    return made.ask("value", bounds=(0, 1)).value


def stream(kind, *queries, **kw):
    def call(data, *, epsilon, budget=None, rng=None):
        made = kind(None, *queries, data=data, universe=[0, 1], epsilon=epsilon, budget=budget,
                    rng=rng, **kw)  # fmt: skip
        return type(made).__name__

    return call


def own_count(data, *, epsilon, budget=None, rng=None):
    made = OwnCount(dp.privacy.Pure(epsilon), neighbors="add-remove")
    return dp.extend.release(data, made, budget=budget, rng=rng)


CLASSES = [int(k) for k in RNG.integers(0, 2, N)]
SIGNS = [2 * k - 1 for k in CLASSES]
TWO = {"bounds": [(0, 100)] * 2}
#: What is told of rows later than by a function of them. One entry for each in `NO_RELEASES` that
#: is handed rows.
LATER = {
    "dp.extend.release": Case(own_count, None),
    "dp.online.MedianMechanism": Case(
        stream(dp.online.MedianMechanism, queries=1, accuracy=0.9), None),
    "dp.online.PrivateMultiplicativeWeights": Case(
        stream(dp.online.PrivateMultiplicativeWeights, queries=1, accuracy=0.9), None),
    "dp.online.MWEM": Case(stream(dp.online.MWEM, np.eye(2), rounds=1), None),
    "dp.sulq.NoisySums": Case(sums, None),
    "dp.learn.cross_validate": Case(validated, None, form="table"),
    "dp.sulq.StatisticalQueryOracle": Case(oracle, None),
}  # fmt: skip
for _kind, _kw in LEARNERS.items():
    _fit = learner(_kind, SIGNS if "classes" in _kw else np.ones(N), **{**_kw, **TWO})
    LATER[f"dp.learn.{_kind.__name__}"] = Case(_fit, None, form="table")
#: Of these no row is an argument, or the rows are asked about by functions of the caller's.
NO_ROWS = NO_RELEASES - set(LATER)
#: Scores and statistics are arguments by themselves, no rows.
FORMS = ("column", "table", "words")


#: Without keys that are selected, which takes a delta: `of_groups` has private keys.
EVERY = {
    name: case
    for name, case in CASES.items()
    if (case.form in FORMS or case.call.__module__ == "dpfast.statistics.response")
    and case.call is not dp.select_keys
} | LATER


def test_every_public_release_is_here():
    """A new one is in `battery.CASES`, in `LATER`, or has no rows."""
    called = {case.call for case in CASES.values()}
    every = dict(public())
    for name, found in every.items():
        assert found in called or name in LATER or name in NO_ROWS, name
    for name in NO_ROWS:
        found = every[name]
        taken = {*inspect.signature(found).parameters}
        assert "data" not in taken and not hasattr(found, "fit"), name


class Watched(dp.Budget):
    def spend(self, *args, **kw):
        super().spend(*args, **kw)
        self.read = sys._getframe(1).f_locals.get("source")


def read_of(source):
    """The rows of a source; None where one is no number, which is an answer."""
    try:
        return numbers(source)
    except DataError:
        return None


def numbers(source):
    """What a source says of each of its rows; None for what is no source."""
    if isinstance(source, intake.View):
        source = source.source
    if isinstance(source, Batches):  # of which columns are read that are no numbers
        return None
    if isinstance(source, list):
        return [numbers(one) for one in source]
    if isinstance(source, np.ndarray) or not hasattr(source, "reduce"):
        return None
    found = []
    if not isinstance(source, Source):  # rows, or rows with labels
        own = getattr(source, "source", source)
        own.reduce(lambda chunk: found.append(np.array(chunk.rows)), lambda a, b: None)
        whole = np.concatenate(found)
        if whole.dtype.names:
            whole = np.stack([whole[key] for key in whole.dtype.names], axis=1)
        return whole

    def keep(chunk):
        out = np.full(len(chunk.values) + chunk.nulls, np.nan, np.result_type(chunk.values, "f4"))
        out[... if chunk.present is None else chunk.present] = chunk.values
        found.append(out)

    source.reduce(keep, lambda a, b: None)
    return np.concatenate(found)


def same_but(a, b, place):
    """Whether two readings are of the same dtype and the same bits, but for one row."""
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same_but, a, b, [place] * len(a)))
    if a is None or b is None:
        return a is b
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    return np.delete(a, place, axis=0).tobytes() == np.delete(b, place, axis=0).tobytes()


def form_of(answer):
    """The type of an answer, and the shapes of what it is made of."""
    if isinstance(answer, dict):  # of private keys there may be more, or fewer
        return [(name, column.dtype) for name, column in answer.items()]
    if isinstance(answer, (tuple, list)):
        return [form_of(one) for one in answer]
    if isinstance(answer, dp.ptr.NoAnswer):  # which is an answer, and paid for
        return float
    if isinstance(answer, np.ndarray):
        return answer.dtype, answer.shape
    return type(answer)


def seen(case, given, budget):
    """What somebody who calls sees, and what the door has read of other rows."""
    before = os.listdir(".")
    found = {"spent": None, "form": None, "read": None, "error": None}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            kw = {**case.kw, **LOSS, **given}
            answer = case.call(**kw, budget=budget, rng=None)
            found["form"] = form_of(answer)
        except DataError as error:
            found["error"] = error
        except DpfastError as error:
            found["refused"] = f"{type(error).__name__}: {error}"
    found["spent"] = len(budget.history)
    found["told"] = [str(one.message) for one in told]
    found["files"] = os.listdir(".") == before
    return found


LOSS = {"epsilon": 500.0}


def answers(case, given):
    """Of randomized response, with the same coins; the truth comes up surely. Else None."""
    if case.call.__module__ != "dpfast.statistics.response":
        return None
    return np.asarray(case.call(**{**case.kw, **LOSS, **given}, rng=InsecureGenerator(1)))


def texts(error):
    while error is not None:
        yield f"{error} {error.args}"
        error = error.__cause__ or error.__context__


def differences(case, make, position, others=True):
    """What is not the same when one row is another: a sentence for each."""
    plain = make(None, None)
    budget = Watched(epsilon=10**9, delta=0.5)
    before = seen(case, plain, budget)
    read = None
    if before["spent"]:
        read = read_of(budget.read)
    for name, value in VALUES.items():
        for place in position:
            given = make(place, value)
            if given is None:
                continue
            own = Watched(epsilon=10**9, delta=0.5)
            after = seen(case, given, own)
            what = f"row {place} = {name}"
            for key in ("spent", "refused", "told", "files"):
                if before.get(key) != after.get(key):
                    yield f"{what}: {key} was {before.get(key)} and is {after.get(key)}"
            if after["error"] is not None:
                said = " ".join(texts(after["error"]))
                if hostile.SECRET in said or "is not refunded" not in said:
                    yield f"{what}: says {said}"
                continue
            if before["form"] != after["form"] and before["form"] is not None:
                yield f"{what}: the answer was {before['form']} and is {after['form']}"
            elif before["form"] and not same_but(answers(case, plain), answers(case, given), place):
                yield f"{what}: answers of other rows are others"
            if others and after["spent"] and read is not None:
                other = read_of(own.read)
                if other is not None and not same_but(read, other, place):
                    yield f"{what}: other rows are read in another way"


def beside_rows(case, *without):
    """What goes with the rows; a mask keeps all, so that a row is where it was."""
    return {one: np.ones(N, bool) if one == "where" else np.asarray(case.kw[one])[:N]
        for one in case.rows if one not in without}  # fmt: skip


def replaced(some, place, value):
    out = list(some)
    if place is not None:
        out[place] = value
    return out


def shapes(case, container, column):
    """Ways to hand rows of a case over in a container, each a function of place and value."""
    put, main, rest = UNTYPED[container], case.parameters[0], beside_rows(case)
    pairs = [[one, other] for one, other in zip(column, column[::-1], strict=True)]
    ways = {"": lambda place, value: put(replaced(column, place, value)),
        "dict": lambda place, value: {"a": put(replaced(column, place, value)), "b": put(column)},
        "rows": lambda place, value: put(replaced(pairs, place, value)),
        "cells": lambda place, value: put(replaced(pairs, place, [value, 1.0]))}  # fmt: skip
    names = ["dict"] if case.form == "table" else [""]
    if case.form == "table" and (case.says_columns or case in LATER.values()):
        names += ["rows", "cells"] if container != "pandas" else []
    for name in names:
        yield name, lambda place, value, own=ways[name]: {main: own(place, value), **rest}


def columns_of(case):
    return {"words": WORDS} if case.form == "words" else COLUMNS


@pytest.fixture(autouse=True)
def _somewhere_else(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def some_values(request, monkeypatch):
    """By day every fourth value, beginning at another one in each test."""
    start = PAIRS.index(tuple(request.node.callspec.params.values())) % 4
    own = dict(list(VALUES.items())[start::4])
    monkeypatch.setattr(sys.modules[__name__], "VALUES", own)


def check(name, containers, places):
    case = EVERY[name]
    found = [f"{name}, {container} {form} of {kind}: {what}" for container in containers
        for kind, column in columns_of(case).items()
        for form, make in shapes(case, container, column)
        for what in differences(case, make, places)]  # fmt: skip
    assert not found, "\n".join(found[:20])


#: By day one container for each release; by night each for each.
PAIRS = list(zip(EVERY, itertools.cycle(UNTYPED), strict=False))


@quick_rows(7, full=60)
@pytest.mark.parametrize(("name", "container"), PAIRS)
@pytest.mark.usefixtures("some_values")
def test_rows_without_a_dtype(name, container):
    check(name, [container], [0])


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
def test_rows_without_a_dtype_in_every_container(name):
    check(name, UNTYPED, [0, N // 2, N - 1])


#: An argument with one entry a row, the entries that it has, and a call that takes it.
BESIDE = {
    "where": ([*map(bool, CLASSES)], [name for name in EVERY if "where" in EVERY[name].rows]),
    "weights": (COLUMNS["numbers"], [name for name in EVERY if "weights" in EVERY[name].rows]),
    "ids": ([k % 7 for k in range(N)], ["by ids",
        *(n for n, case in EVERY.items() if "ids" in case.rows and case.form != "words")]),
    "y": (CLASSES, [name for name, case in LATER.items() if "y" in case.parameters]),
}  # fmt: skip
EVERY_BESIDE = EVERY | {"by ids": Case(dp.sample_and_aggregate, None,
    {"bounds": (0, 100), "estimator": "mean", "blocks": 3, "partition": "key"})}  # fmt: skip


def beside(name, argument, put):
    case = EVERY_BESIDE[name]
    column = np.array(COLUMNS["numbers"])
    table = case.form == "table"
    rest = beside_rows(case, argument)
    rest[case.parameters[0]] = np.stack([column, column], axis=1) if table else column
    entries, _ = BESIDE[argument]
    return case, lambda place, value: {**rest, argument: put(replaced(entries, place, value))}


PAIRS_BESIDE = [(argument, name, container) for argument, (_, names) in BESIDE.items()
    for name, container in zip(names, itertools.cycle(UNTYPED), strict=False)]  # fmt: skip


@quick_rows(6, full=40)
@pytest.mark.parametrize(("argument", "name", "container"), PAIRS_BESIDE)
def test_entries_beside_the_rows(argument, name, container):
    case, make = beside(name, argument, UNTYPED[container])
    found = list(differences(case, make, [0], others=argument != "where"))
    assert not found, "\n".join(found[:20])


GROUPED = {"k": [k % 3 for k in range(N)], "id": CLASSES, "x": COLUMNS["numbers"]}


def of_groups(data, *, keys, ids, epsilon, budget=None, rng=None):
    """Statistics of all kinds by group, of which each is told what a row may be."""
    people = {} if ids is None else {"ids": ids, "max_groups": 2, "max_rows": 9}
    asked = {"n": dp.stat.count(), "m": dp.stat.mean("x", bounds=(0, 100), nan="drop"),
        "q": dp.stat.median("x", bounds=(0, 100), nan="lower"),
        "h": dp.stat.histogram("x", bins=2, bounds=(0, 100))}  # fmt: skip
    groups = dp.group_by(data, "k", keys=keys, **people)
    answer = groups.agg(asked, epsilon=epsilon, delta=1e-6, budget=budget, rng=rng)
    if keys is not None:
        assert len(answer["n"]) == len(keys)
    return answer


def groups_differ(column, container, keys, ids="id", places=(0,)):
    """What is not the same when one entry of a column is another."""
    case = Case(of_groups, None, {"keys": keys, "ids": ids})

    def make(place, value):
        table = dict(GROUPED)
        if place is not None:
            table[column] = replaced(table[column], place, value)
        return {"data": {name: UNTYPED[container](some) for name, some in table.items()}}

    found = differences(case, make, places, others=False)
    return [f"{column} in {container}, keys {keys}: {what}" for what in found]


@full_rows(9)
@pytest.mark.parametrize("column", GROUPED)
@pytest.mark.parametrize("keys", [[0, 1, 7], None])
@pytest.mark.parametrize("container", UNTYPED)
def test_rows_of_groups(column, keys, container):
    found = groups_differ(column, container, keys, places=[0, N - 1])
    assert not found, "\n".join(found[:20])


def test_a_key_of_a_row_that_makes_a_type_is_found(monkeypatch):
    """Planted: keys have the type of what they are, and dates the text that they came in."""
    monkeypatch.setattr(group_keys, "_of_objects", np.array)
    assert groups_differ("k", "list", None, ids=None)


#: Whether a value is null is a fact about it, whatever else the type declares; so is 0.
NULLS = {"none": None, "0": 0}


def typed(name):
    make, of = TYPED[name]
    return make, [of(1)] * N, of


@full_rows(4)
@pytest.mark.parametrize("kind", TYPED)
def test_a_null_in_a_declared_type(kind, monkeypatch):
    """The rows, a mask, ids, labels and answers of randomized response."""
    monkeypatch.setattr(sys.modules[__name__], "VALUES", NULLS)
    make, some, of = typed(kind)
    found = []
    for name, case in EVERY.items():
        local = case.call.__module__ == "dpfast.statistics.response"
        if case.form == "words" or (local and of is float):
            continue
        main, table = case.parameters[0], case.form == "table"
        rest = beside_rows(case)

        def own(place, value, table=table, main=main, rest=rest):
            column = make(replaced(some, place, value if value is None else of(value)))
            data = {"a": column, "b": make(some)} if table else column
            return {main: data, **rest}

        found += [f"{name}: {what}" for what in differences(case, own, [0, N - 1])]
    for argument, (_, names) in BESIDE.items():
        fits = {"where": of is bool, "ids": of is int, "weights": True, "y": True}[argument]
        for name in names if fits and (argument, kind) != ("where", "masked") else []:
            case, call = beside(name, argument, list)

            def other(place, value, call=call, argument=argument):
                entry = value if value is None else of(value)
                return call(None, None) | {argument: make(replaced(some, place, entry))}

            more = differences(case, other, [0], others=argument != "where")
            found += [f"{argument} of {name}: {what}" for what in more]
    assert not found, "\n".join(found[:20])


def rows_of(data, name="data"):
    if not any(isinstance(one, (int, float)) for one in data):
        raise ArgumentTypeError(f"{name} must be a sequence of numbers")
    return list(data)


def shows_a_row(one):
    if isinstance(one, str):
        raise DataError(f"no number: {one}. This answer")


def filled(look):
    """What fills an array, which looks at each row before."""
    return lambda some, out, fill=untyped.fill_numbers: (
        [look(one) for one in some] and fill(some, out)
    )


def is_table(form, asked=intake.has_columns):
    """Whether there are columns, by the first row."""
    first = next(iter(form.rows), None) if isinstance(form, forms.Objects) else None
    return isinstance(first, (list, tuple)) or asked(form)


BY_A_COMMON_TYPE = (forms, "is_untyped", lambda data: False)
FAULTS = {
    "median": BY_A_COMMON_TYPE,
    "means of columns": BY_A_COMMON_TYPE,
    "covariance": BY_A_COMMON_TYPE,
    "binary": (categories, "is_untyped", lambda data: False),
    "k-ary": (categories, "is_untyped", lambda data: False),
    "mean": (forms, "untyped_rows", rows_of),
    "mean, shown": (forms, "fill_numbers", filled(shows_a_row)),
    "mean, warned of": (forms, "fill_numbers", filled(lambda one: one is None and warnings.warn(
        "there is nothing in a row", stacklevel=1))),
    "mean, in a file": (forms, "fill_numbers", filled(lambda one: one is None and open(
        "core", "w").close())),
    "mean, by the first row": (intake, "has_columns", is_table),
}  # fmt: skip


@quick_rows(3)
@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_found(fault, monkeypatch):
    check(fault.split(",")[0], ["list"], [0])
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        check(fault.split(",")[0], ["list"], [0])


def test_a_mask_that_is_read_by_its_first_look_is_found(monkeypatch):
    monkeypatch.setattr(*BY_A_COMMON_TYPE)
    with pytest.raises(AssertionError):
        test_entries_beside_the_rows("where", "mean of some", "list")


@pytest.mark.parametrize("column", [[{"x": 1}, {hostile.SECRET: 1}], [1, 2], [1, "x"], [1.5, None]])
def test_a_table_where_a_column_should_be_is_refused_unread(column):
    frame = pd.DataFrame({"a": pd.Series(column, dtype=object)})
    told = set()
    for call in (
        lambda **kw: dp.count([1, 2], where=frame, **kw),
        lambda **kw: dp.tree_histogram(frame, bins=2, bounds=(0, 1), **kw),
        lambda **kw: dp.response.kary(frame, categories=3, **kw),
        lambda **kw: dp.sample_and_aggregate(
            np.zeros(2), "mean", blocks=1, bounds=(0, 1), ids=frame, **kw
        ),
    ):
        budget = dp.Budget(epsilon=1)
        with pytest.raises(ArgumentTypeError) as caught:
            call(epsilon=1, budget=budget)
        assert not budget.history
        told.add(str(caught.value).partition(" must be ")[2].partition(":")[0])
    assert told == {"one column, not a table, got an object of type DataFrame"}


def test_a_null_is_not_the_category_of_a_negative_number():
    for some in (pa.array([None, -1]), pd.array([None, -1], dtype="Int64"), [None, -1]):
        found = dp.response.kary(some, categories=[5, -1], epsilon=500)
        assert found.tolist() == [5, -1]
    beyond = pa.array([2**64 - 1], pa.uint64())
    assert dp.response.kary(beyond, categories=[5, -1], epsilon=500).tolist() == [5]
