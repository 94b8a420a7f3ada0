"""What every public release owes, for all of them alike: one battery, in `battery.py`. A bad
argument is one clear error before anything is spent; a spend is the loss that was asked, and comes
before data and randomness are touched; it stands when the data fail; the answer is a function of
the numbers in the data and of the random bits, and of nothing else."""

import contextlib
import functools
import inspect
import itertools
import math
import pickle
import re
import threading
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import dpfast as dp
from dpfast.errors import ArgumentError, ArgumentTypeError, BudgetError, DataError
from dpfast.rng import InsecureGenerator
from dpfast.tables import as_source, memory
from dpfast.tables.data import as_rows
from dpfast.tables.forms import is_distributed

from .support import by_group
from .support.battery import (
    BAD,
    BAD_DATA,
    CASES,
    EVERY,
    FREE,
    NO_RELEASES,
    PAIRED,
    SECRET,
    Case,
    each,
    forms,
    public,
    same,
)

FED = each(name for name, case in CASES.items() if case.form in ("column", "table"))


def limit(**kw):
    """A budget that is large enough for anything here."""
    return dp.Budget(epsilon=10**6, delta=0.9, **kw)


def test_every_release_is_in_the_battery():
    found = dict(public())
    assert set(found) >= NO_RELEASES
    missing = {name for name, function in found.items() if name not in NO_RELEASES
        and not any(case.call is function for case in CASES.values())}  # fmt: skip
    assert not missing
    assert not any("budget" in CASES[name].parameters for name in NO_RELEASES & set(CASES))


#: In this order, in every release that takes them, and by name only.
COMMON = (*("epsilon", "delta", "rho", "neighbors", "where", "max_rows", "budget", "rng"),)


def test_common_arguments_come_in_one_order():
    releases = [(name, f) for name, f in public() if "budget" in inspect.signature(f).parameters]
    asking = {
        "dp.extend.relation_of",
        "dp.extend.Prepared",
        "dp.session",
    }  # which pay nothing themselves
    releases = [(name, function) for name, function in releases if name not in asking]
    assert len(releases) > 25
    for name, function in releases:
        parameters = inspect.signature(function).parameters
        taken = [argument for argument in parameters if argument in COMMON]
        assert taken == [argument for argument in COMMON if argument in taken], name
        assert list(parameters)[-2:] == ["budget", "rng"], name
        assert all(parameters[a].kind is inspect.Parameter.KEYWORD_ONLY for a in taken), name


def test_every_loss_that_a_release_takes_is_asked_for():
    for case in CASES.values():
        takes = {"epsilon", "delta", "rho"} & set(case.parameters)
        asked = {key for other in CASES.values() if other.call is case.call for one in other.losses
                 for key in one}  # fmt: skip
        assert asked == takes


def wrong(name, parameter):
    case = CASES[name]
    if parameter == case.parameters[0]:
        # Where rows are counted, and no more, what they hold is never wrong.
        free = counts_all(case) and (case.call is dp.kept_whole or not case.kw)
        return [bad for bad in BAD_DATA[case.form] if not (free and np.ndim(bad))]
    own = f"{parameter} of {case.call.__name__}"
    if own in FREE or parameter in case.apart or (parameter in PAIRED and parameter not in case.kw):
        return []
    return BAD[parameter]


def test_every_argument_of_a_release_is_tried():
    """A new argument is to have an entry in `BAD`, and a case that gives it."""
    free = {f.split(" of ")[0] for f in FREE}
    for name, case in CASES.items():
        alike = [other for other, own in CASES.items() if own.call is case.call]
        for parameter in case.parameters:
            tried = any(wrong(other, parameter) for other in alike)
            assert tried or parameter in free or case.form == "object", (name, parameter)


def objections(case, budget, parameter, bad):
    """What is wrong with how a bad value is refused."""
    main = case.parameters[0]
    given = {main: case.data, **case.kw, **case.losses[0], "budget": budget, parameter: bad}
    if parameter == "rho":
        given = {name: value for name, value in given.items() if name not in ("epsilon", "delta")}
    try:
        case.call(**given)
    except (ArgumentError, ArgumentTypeError) as error:
        text = str(error)
        if not re.match(rf"(\w+ )?'?{parameter}\b.*\bmust\b.*, got ", text):
            yield f"does not name argument, rule and value: {text}"
        if "\n" in text or len(text) > 400:
            yield f"is no line: {text}"
        if SECRET in text:
            yield f"quotes the data: {text}"
        if error.__context__ is not None and not error.__suppress_context__:
            yield f"shows another error before it: {text}"
    except Exception as error:
        yield f"is {type(error).__name__}: {error}"
    else:
        yield "is none"


@EVERY
def test_bad_arguments_are_one_clear_error_and_cost_nothing(name):
    case = CASES[name]
    budget = limit()
    found = [f"{parameter}={bad!r}: the error {objection}" for parameter in case.parameters
        for bad in wrong(name, parameter)
        for objection in objections(case, budget, parameter, bad)]  # fmt: skip
    assert not found, "\n".join(found)
    assert budget.history == ()


@EVERY
def test_two_kinds_of_loss_are_refused(name):
    case = CASES[name]
    if "rho" in case.parameters:
        with pytest.raises(ArgumentError, match="rho must be left out"):
            case(case.data, {"epsilon": 1, "rho": 1})
        if "delta" in case.parameters:
            with pytest.raises(ArgumentError, match="delta must be left out"):
                case(case.data, {"rho": 1, "delta": 0.1})
    if case.call not in (dp.response.binary,):
        with pytest.raises(TypeError):
            case(case.data, case.losses[0], no_such_argument=1)


class Watched(dp.Budget):
    def __init__(self, log, **kw):
        super().__init__(**kw)
        self.log = log

    def spend(self, *args, **kw):
        super().spend(*args, **kw)
        self.log.append("spend")


class Tape(dp.rng.SecureGenerator):
    def __init__(self, log):
        super().__init__()
        self.log = log

    def stream(self):
        self.log.append("bits")
        return super().stream()


class Fed:
    """A source that writes down when it is read, or cannot be."""

    array = None

    def __init__(self, inner, log, broken=False):
        self.inner, self.log, self.broken = inner, log, broken
        self.dtype, self.length = inner.dtype, inner.length
        # A column has nulls, rows have a width: by that the two are told apart.
        for own in ("nulls", "width"):
            if hasattr(inner, own):
                setattr(self, own, getattr(inner, own))

    def reduce(self, summarise, merge):
        self.log.append("data")
        if self.broken:
            raise ZeroDivisionError
        return self.inner.reduce(summarise, merge)


class FedColumn(Fed):
    def sample(self, count, words):
        self.log.append("data")
        return self.inner.sample(count, words)


def fed(case, log, broken=False):
    if case.form == "column" and "weights" not in case.rows:
        return FedColumn(as_source(case.data), log, broken)
    return Fed(as_rows(case.data), log, broken)


def counts_all(case):
    """Whether the number of all rows is asked for, which is known without reading them."""
    return case.call is dp.kept_whole or (case.call is dp.count and not case.rows)


@EVERY
def test_what_is_spent_is_what_was_asked_under_the_relation_that_was_said(name):
    case = CASES[name]
    for loss, relation in itertools.product(case.losses, case.relations):
        budget = dp.Budget(rho=10**6) if "rho" in loss else limit()
        kw = {"neighbors": relation} if "neighbors" in case.parameters else {}
        case(case.data, loss, budget=budget, **kw)
        (line,) = budget.history
        assert line.neighbors == relation and line.what
        if "rho" in loss:
            assert budget.spent == {"rho": Fraction(str(loss["rho"]))}
            continue
        assert budget.spent["epsilon"] == Fraction(str(loss["epsilon"]))
        delta = Fraction(str(loss.get("delta", 0)))
        shares = (0, delta)
        if case.call is by_group.of_private_keys:  # two of three parts take no delta
            shares = (delta / 3, 2 * delta / 3, delta)
        assert budget.spent["delta"] in shares
        if case.call.__module__.startswith("dpfast.statistics.ptr"):
            assert budget.spent["delta"] > 0  # the test has no other way
        quoted = dp.Budget(epsilon=1).cost(case.call, case.data, **{**case.kw, **loss, **kw})
        assert quoted == line.loss


@EVERY
def test_the_spend_comes_before_data_and_randomness(name):
    case = CASES[name]
    log = []
    data = case.data
    if case.form in ("column", "table") and "weights" not in case.rows:
        data = fed(case, log)
    case(data, case.losses[0], budget=Watched(log, epsilon=9, delta=0.1), rng=Tape(log))
    assert log[0] == "spend" and "bits" in log
    if data is not case.data:
        assert "data" in log or counts_all(case)
    # What cannot be paid for touches neither.
    log.clear()
    with pytest.raises(BudgetError):
        case(data, case.losses[0], budget=Watched(log, epsilon=1, delta=0.1), rng=Tape(log))
    assert log == []


@EVERY
def test_a_spend_stands_when_the_data_fail(name):
    case = CASES[name]
    budget = limit()
    before = 0
    if case.fails is not None:
        before += 1
        with pytest.raises(ZeroDivisionError):
            case(case.data, case.losses[0], **case.fails, budget=budget)
    elif case.form in ("column", "table") and "weights" not in case.rows and not counts_all(case):
        before += 1
        with pytest.raises(ZeroDivisionError):
            case(fed(case, [], broken=True), case.losses[0], budget=budget)
    policy = "nan" in case.parameters and "raise" in str(case.call.__doc__)
    if policy and case.call not in (dp.count, dp.sample_and_aggregate):
        for nothing in (math.nan, None):
            before += 1
            rows = case.data.tolist()
            rows[0] = [nothing, 1.0] if case.form == "table" else nothing
            if case.form == "table" and not case.says_columns:
                rows = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
            kw = {"where": np.ones(len(case.data), bool)} if "where" in case.rows else {}
            kw["nan"] = "raise"
            with pytest.raises(DataError, match="is not refunded") as caught:
                case(rows, case.losses[0], budget=budget, **kw)
            assert "\n" not in str(caught.value)
    assert len(budget.history) == before


@EVERY
def test_a_budget_pays_for_private_noise_only(name):
    case = CASES[name]
    budget = limit()
    with pytest.raises(BudgetError, match="private noise only"):
        case(case.data, case.losses[0], budget=budget, rng=InsecureGenerator(1))
    assert budget.history == ()


@each(CASES, step=3)
def test_forms_of_the_data_and_of_what_goes_with_the_rows(name, tmp_path, monkeypatch):
    """The same bits, whatever form they have; nothing that is given is written to."""
    monkeypatch.setattr(memory, "BLOCK", 64)
    case = CASES[name]
    for loss in case.losses:
        expected = case(case.data, loss, rng=InsecureGenerator(3))
        assert same(case(case.data, loss, rng=InsecureGenerator(3)), expected)
    for form, data in forms(case, tmp_path):
        is_plan = hasattr(data, "reduce") or is_distributed(data)
        before = None if is_plan else pickle.dumps(data)
        answer = case(data, loss, rng=InsecureGenerator(3))
        if (
            isinstance(answer, np.ndarray) and case.form == "array"
        ):  # randomised rows keep the type that they came in
            answer = answer.astype(expected.dtype)
        assert same(answer, expected), form
        assert before is None or pickle.dumps(data) == before, form
    for extra in case.rows:
        beside = case.kw[extra]
        for form in (beside.tolist(), np.repeat(beside, 2)[::2], beside[::-1].copy()[::-1]):
            got = case(case.data, loss, **{extra: form}, rng=InsecureGenerator(3))
            assert same(got, expected)


@EVERY
def test_the_bits_are_all_that_decides(name):
    """Other seeds give other answers; threads and pickles of the generator the same."""
    case = CASES[name]
    loss = case.losses[0]
    answers = []
    for seed in range(40):  # answers that are seldom apart need many
        answers.append(pickle.dumps(case(case.data, loss, rng=InsecureGenerator(seed))))
        if seed >= 3 and len(set(answers)) > 1:
            break
    assert len(set(answers)) > 1
    found = {}

    def work(seed):
        rng = pickle.loads(pickle.dumps(InsecureGenerator(seed)))
        found[seed] = pickle.dumps(case(case.data, loss, rng=rng))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [found[s] for s in range(4)] == answers[:4]


@each(n for n, c in CASES.items() if c.unordered and c.form in ("column", "table"))
def test_the_order_of_rows_does_not_matter(name):
    case = CASES[name]
    order = np.random.default_rng(1).permutation(len(case.data))
    beside = {extra: case.kw[extra][order] for extra in case.rows}
    for loss, relation in itertools.product(case.losses, case.relations):
        kw = {"neighbors": relation}
        expected = case(case.data, loss, rng=InsecureGenerator(5), **kw)
        got = case(case.data[order], loss, rng=InsecureGenerator(5), **beside, **kw)
        assert same(got, expected)


def fewer(case, rows):
    return {extra: case.kw[extra][:rows] for extra in case.rows}


@EVERY
def test_no_rows_and_one_row(name):
    case = CASES[name]
    if case.least is None:
        return
    budget = limit()
    for rows, relation in itertools.product((0, 1, 2), case.relations):
        kw = {"neighbors": relation} if "neighbors" in case.parameters else {}
        kw |= {**fewer(case, rows), "budget": budget}
        spends = len(budget.history)
        data = case.data[:rows]
        # Under add-remove the number of rows is private and cannot be wrong.
        private = relation == "add-remove" and case.call is dp.sample_and_aggregate
        if rows < case.least and not private:
            with pytest.raises((ArgumentError, ArgumentTypeError)):
                case(data, case.losses[0], **kw)
            assert len(budget.history) == spends
            continue
        answer = case(data, case.losses[0], **kw)
        assert len(budget.history) == spends + 1
        if case.form == "column" and "bounds" in case.kw and isinstance(answer, float):
            assert math.isfinite(answer)


MOST = float(np.finfo(np.float64).max)
TRAPS = {
    "huge": [1e308, -1e308, MOST, -MOST, math.inf, -math.inf, 1.0],
    "tiny": [5e-324, -5e-324, 1e-308, -1e-308, 0.0, -0.0, 2.0**-1022],
    "mixed": [1e16, 1.0, -1e16, 3.0, -1.0, 1e-16, 7.0],
    "int64": np.array([2**63 - 1, -(2**63), 2**53 + 1, -1, 0, 1, 99], np.int64),
    "uint64": np.array([2**64 - 1, 2**63, 2**53 + 1, 0, 1, 99, 100], np.uint64),
    "int32": np.array([2**31 - 1, -(2**31), 0, 1, -1, 99, 100], np.int32),
    "int8": np.array([127, -128, 0, 1, -1, 99, 100], np.int8),
    "float32": np.array([3.4e38, -3.4e38, 1e-45, 0.1, -0.0, 99, 2**24 + 2], np.float32),
    "float16": np.array([65504, -65504, 6e-8, 0.1, -0.0, 99, 100], np.float16),
    "bool": np.array([True, False, True, True, False, False, True]),
}  # fmt: skip


#: By day one of several for each case, another one for the next; the rest is full.
PARTS = pytest.mark.parametrize("part", ["one", pytest.param("rest", marks=pytest.mark.full)])


def part_of(values, name, part):
    """The value of a case, or all others."""
    own = list(CASES).index(name) % len(values)
    return values[own : own + 1] if part == "one" else values[:own] + values[own + 1 :]


@PARTS
@FED
def test_traps_of_floating_point(name, part):
    for trap in part_of(list(TRAPS), name, part):
        check_trap(name, trap)


def check_trap(name, trap):
    """Types are read as what they hold: as float64 the same bits, in any order, all finite."""
    case = CASES[name]
    values = np.asarray(TRAPS[trap])
    data = np.tile(values, 9)
    beside = fewer(case, len(data))
    if case.form == "table":
        data = np.stack([data, data[::-1]], axis=1)

    def answer(rows, **kw):
        return case(rows, case.losses[0], rng=InsecureGenerator(7), **beside, **kw)

    for relation in case.relations:
        kw = {"neighbors": relation}
        if trap == "bool" and "categories" in case.kw:
            kw["categories"] = [0, 1]  # a column of booleans can hold no others
        if values.dtype.kind in "iub" and "granularity" in case.parameters:
            if case.kw["bounds"] == "auto":
                continue  # which takes no granularity
            kw["granularity"] = 1
        with np.errstate(over="ignore"):
            expected = answer(data.astype(np.float64), **kw)
        assert same(answer(data, **kw), expected)
        numbers = expected[0] if isinstance(expected, tuple) else expected
        assert isinstance(numbers, dp.ptr.NoAnswer) or np.isfinite(numbers).all()
        assert same(answer(data.astype(np.float64) + 0.0, **kw), expected)  # no -0.0
        if case.unordered and not case.rows:
            assert same(answer(data[::-1], **kw), expected)


@FED
def test_bounds_of_every_size(name):
    """Answers stay finite, between bounds that are one number, near the largest, or tiny."""
    case = CASES[name]
    if "bounds" not in case.kw:
        return
    limits = [(3, 3), (0, 0), (-8e307, 8e307), (0, 1e308), (1e15, 1e15 + 2), (-1e-300, 1e-300)]
    for lo, hi in limits:
        kw = {"bounds": (lo, hi)}
        if case.form == "table":
            kw = {"bounds": [(lo, hi)] * 2}
        try:
            found = case(case.data, case.losses[0], **kw)
        except ArgumentError as error:  # which says that they are too far apart or too near
            assert re.match(r"(bounds|bins|proposed)\b.* must be", str(error))
            continue
        numbers = found[0] if isinstance(found, tuple) else found
        assert isinstance(numbers, dp.ptr.NoAnswer) or np.isfinite(numbers).all()


@PARTS
@FED
def test_chunks(name, part):
    case = CASES[name]
    if case.form == "table" or "weights" in case.rows:
        return
    loss = case.losses[-1]
    expected = case(case.data, loss, rng=InsecureGenerator(9))
    for chunks in part_of([1, 7, 64, 1000], name, part):
        cut = [case.data[i : i + chunks] for i in range(0, len(case.data), chunks)]
        got = case(pa.chunked_array(cut), loss, rng=InsecureGenerator(9))
        assert same(got, expected), chunks


def talkative(data, **kw):
    if isinstance(data, (str, list)):
        raise ArgumentError(f"data must be numbers, got {data}")
    return dp.mean(data, **kw)


def spoils(data, **kw):
    found = dp.mean(data, **kw)
    if isinstance(data, np.ndarray) and data.flags.writeable:
        data[:1] += 1
    return found


def narrow(data, **kw):
    data = np.asarray(data)
    return dp.mean(data.astype(np.int32) if data.dtype.kind == "i" else data, **kw)


FAULTS = {
    "late": (test_the_spend_comes_before_data_and_randomness,
        lambda data, budget=None, **kw: (dp.mean(data, **kw), dp.mean([], budget=budget, **kw))[0]),
    "cheap": (test_what_is_spent_is_what_was_asked_under_the_relation_that_was_said,
        lambda data, epsilon=None, delta=0, budget=None, **kw:
            (dp.mean([], epsilon=epsilon / 2, budget=budget, **kw),
             dp.mean(data, epsilon=epsilon, delta=delta, **kw))[1]),
    "trusting": (test_a_budget_pays_for_private_noise_only, lambda data, budget=None, rng=None,
        **kw: (dp.mean(data, budget=budget, **kw), dp.mean(data, rng=rng, **kw))[1]),
    "free where it fails": (test_a_spend_stands_when_the_data_fail, lambda data, budget=None,
        **kw: (dp.mean(data, **kw), dp.mean(data, budget=budget, **kw))[1]),
    "talkative": (test_bad_arguments_are_one_clear_error_and_cost_nothing, talkative),
    "spoils": (test_forms_of_the_data_and_of_what_goes_with_the_rows, spoils),
    "of its own": (test_the_bits_are_all_that_decides, lambda data, rng=None, **kw:
        dp.mean(data, **kw)),
    "narrow": (check_trap, narrow),
    "first row": (test_the_order_of_rows_does_not_matter, lambda data, **kw:
        dp.mean(data, **kw) + float(np.asarray(data)[:1].sum())),
    "averse to none": (test_no_rows_and_one_row, lambda data, **kw:
        dp.mean(data, **kw) / len(data)),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_every_test_here_finds_its_fault(fault, tmp_path, monkeypatch):
    test, planted = FAULTS[fault]
    more = {"tmp_path": tmp_path, "monkeypatch": monkeypatch, "trap": "int64"}
    more = {key: more[key] for key in inspect.signature(test).parameters if key in more}
    for call, finds in ((functools.wraps(dp.mean)(planted), True), (dp.mean, False)):
        case = Case(call, CASES["mean"].data.copy(), {"bounds": (0, 100)})
        monkeypatch.setitem(CASES, "planted", case)
        failure = (AssertionError, ZeroDivisionError, pytest.fail.Exception)
        with pytest.raises(failure) if finds else contextlib.nullcontext():
            test("planted", **more)
