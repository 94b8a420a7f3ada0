"""What a user computes in a database fails on no value, or is refused before the spend."""

import random
from decimal import Decimal

import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError
from dpfast.tables.sql.failures import expect_no_failures
from tests.support.databases import ENGINES, HOSTILE, connect, ibis, table

DRAW = random.Random(1)
KINDS = {
    "a": "float64", "b": "float64", "f": "float32", "i": "int64", "j": "int32", "h": "int16",
    "s": "string", "u": "string", "day": "date", "ts": "timestamp", "yes": "boolean",
    "d": "decimal", "e": "decimal",
}  # fmt: skip
ROWS = 700


@pytest.fixture(scope="module", params=ENGINES)
def there(request):
    """Rows of all pairs of hostile numbers, most probably."""
    columns = {name: HOSTILE[kind] for name, kind in KINDS.items()}
    values = {name: (kind, DRAW.choices(some, k=ROWS)) for name, (kind, some) in columns.items()}
    return table(connect(request.param), values)


#: Operations, and those of the three databases that never fail on them.
ALL, DUCK, LITE, POST = "duckdb sqlite postgres", "duckdb", "sqlite", "postgres"
EXPRESSIONS = {
    "a product": (lambda t: t.a * t.b, f"{DUCK} {LITE}"),
    "a sum": (lambda t: t.a + t.b, f"{DUCK} {LITE}"),
    "a share": (lambda t: 1 / t.a, f"{DUCK} {LITE}"),
    "a share of integers": (lambda t: t.i / t.j.nullif(0), ALL),
    "a twelfth": (lambda t: t.a / 12, f"{DUCK} {LITE}"),
    "integers": (lambda t: t.i * t.i, LITE),
    "one more": (lambda t: t.i + 1, LITE),
    "one more of 32 bits": (lambda t: t.j + 1, LITE),
    "one more of 64 bits": (lambda t: t.j.cast("int64") + 1, ALL),
    "a product of 16 bits": (lambda t: t.h * t.h, LITE),
    "cast before": (lambda t: t.h.cast("int32") * t.h.cast("int32"), ALL),
    "a column of columns": (lambda t: t.mutate(x=t.j + t.j).mutate(y=lambda r: r.x * 2).y, LITE),
    "clipped": (lambda t: t.i.clip(-9, 9) * 3, ALL),
    "negative": (lambda t: -t.i, LITE),
    "an absolute": (lambda t: t.i.abs(), ""),
    "of floats": (lambda t: -t.a.abs(), ALL),
    "money": (lambda t: t.d * (1 - t.e), f"{LITE} {POST}"),
    "money of floats": (lambda t: t.d.cast("float64") * (1 - t.e.cast("float64")), ALL),
    "money of digits": (lambda t: long(t.d) * (1 - long(t.e)), ALL),
    "counted": (lambda t: (t.a > 3).cast("int32") * 5, ALL),
    "half": (lambda t: t.i // 2, ALL),
    "a part": (lambda t: t.i // t.j, ""),
    "a rest": (lambda t: t.i % t.j, ""),
    "rounded": (lambda t: t.a.round(), LITE),
    "digits": (lambda t: t.a.round(2), f"{DUCK} {LITE}"),
    "a floor": (lambda t: t.a.floor(), LITE),
    "a floor of decimals": (lambda t: t.d.floor(), LITE),
    "a number of text": (lambda t: t.s.cast("int64"), LITE),
    "whole": (lambda t: t.a.cast("int64"), LITE),
    "short": (lambda t: t.i.cast("int32"), LITE),
    "single": (lambda t: t.a.cast("float32"), LITE),
    "few digits": (lambda t: t.i.cast("decimal(18, 2)"), LITE),
    "tried": (lambda t: t.s.try_cast("int64"), DUCK),
    "text of numbers": (lambda t: t.i.cast("string") + t.s, ALL),
    "a day of text": (lambda t: t.s.cast("date"), LITE),
    "a year": (lambda t: t.day.year(), DUCK),
    "a case": (lambda t: (t.a > 3).ifelse(t.a, 0.0), ALL),
    "a filled one": (lambda t: t.i.fill_null(0), ALL),
    "words": (lambda t: t.s.isin(["a"]) | t.s.upper().like("a%") | (t.s.length() > 3), ALL),
    "the first letters": (lambda t: t.s.substr(0, 2), ALL),
    "the last letters": (lambda t: t.s.substr(0, t.j), ""),
    "a day": (lambda t: (t.day >= "1998-09-02") & t.yes, ALL),
    "a day and a time": (lambda t: t.day < t.ts, ""),
    "decimals and integers": (lambda t: t.d > t.i, ALL),
    "a logarithm": (lambda t: t.a.log(), ""),
    "a root": (lambda t: t.a.sqrt(), ""),
    "totals": (lambda t: t.group_by("s").aggregate(x=t.j.sum(), y=t.d.sum()).x, f"{DUCK} {POST}"),
    "of totals": (
        lambda t: t.group_by("s").aggregate(x=t.i.sum()).mutate(y=lambda r: r.x + 1).y,
        "",
    ),
    "numbered": (lambda t: t.mutate(x=ibis.row_number().over(order_by=t.a)).x, ALL),
    "text among numbers": (lambda t: t.s.isin([1]), ""),
    "decimals or integers": (lambda t: ibis.coalesce(fine(t.h), t.i), f"{LITE} {POST}"),
    "the larger decimal": (lambda t: ibis.greatest(fine(t.h), t.i), f"{LITE} {POST}"),
    "a decimal if": (lambda t: t.yes.ifelse(fine(t.h), t.i), f"{LITE} {POST}"),
    "a decimal by case": (lambda t: t.j.cases((1, fine(t.h)), else_=t.i), f"{LITE} {POST}"),
    "a decimal or none": (lambda t: fine(t.h).nullif(t.i), f"{LITE} {POST}"),
    "filled decimals": (lambda t: t.d.fill_null(0), ALL),
    "words by case": (lambda t: t.s.cases(("a", 1), else_=0), ALL),
    "a decimal literal": (lambda t: t.d * Decimal("0.5"), f"{LITE} {POST}"),
    "a sum of a literal": (lambda t: t.d + Decimal("0.5"), f"{LITE} {POST}"),
    "between decimals": (lambda t: t.d.between(Decimal("0.05"), Decimal("0.07")), ALL),
    "a decimal of some": (lambda t: t.d.isin([Decimal("0.05"), Decimal("2.5")]), ALL),
    "fine decimals": (lambda t: fine(t.h) > Decimal("0.05"), f"{LITE} {POST}"),
    "finer times": (lambda t: t.ts.cast("timestamp(9)"), LITE),
    "times": (lambda t: t.ts.cast("timestamp"), ALL),
    "clipped by a column": (lambda t: t.h.clip(-5, 5).clip(lower=t.i) * 3, LITE),
    "clipped by none": (lambda t: t.i.clip(t.h.clip(-5, 5), t.h.clip(5, 9)) * 3, LITE),
    "clipped far": (lambda t: t.h.clip(lower=2**62).cast("int32"), LITE),
    "clipped floats": (lambda t: t.a.clip(0, 100) * 2 + 1, ALL),
    "half less": (lambda t: t.i / -2, ALL),
    "a share but of 5": (lambda t: t.i / t.j.nullif(5), f"{DUCK} {LITE}"),
    "a pattern that ends too early": (lambda t: t.s.like("%\\"), ""),
    "whole decimals": (lambda t: t.d.cast("int64"), f"{DUCK} {LITE}"),
    "single floats": (lambda t: t.i.cast("float32") * t.f, f"{DUCK} {LITE}"),
    "a row before": (lambda t: t.mutate(x=t.i.lag(2).over(order_by=t.j)).x, ALL),
    "some row before": (lambda t: t.mutate(x=t.i.lag(t.i).over(order_by=t.j)).x, ""),
    "or another": (lambda t: t.mutate(x=t.h.lag(1, default=t.i).over(order_by=t.j)).x, ""),
    "a range": (lambda t: t.mutate(x=t.a.min().over(ibis.range_window(5, 5, order_by=t.i))).x, ""),
    "no tiles": (lambda t: t.mutate(x=ibis.ntile(0).over(order_by=t.i)).x, ""),
    "joined": (lambda t: t.join(t.view(), "j").select("s")["s"], ALL),
}
#: Those of which some rows are errors in DuckDB.
FAILING = [
    "integers", "one more", "one more of 32 bits", "a product of 16 bits", "a column of columns",
    "negative", "an absolute", "money", "rounded", "a floor", "a number of text", "whole", "short",
    "single", "few digits", "a floor of decimals", "a day of text", "a logarithm", "a root",
    "a part", "text among numbers", "decimals or integers", "the larger decimal", "a decimal if",
    "a decimal by case", "a decimal or none", "a decimal literal", "a sum of a literal",
    "finer times", "clipped by a column", "clipped by none", "clipped far", "some row before",
    "or another", "a range", "no tiles",
]  # fmt: skip


def long(column):
    return column.cast("decimal(38, 4)")


def fine(column):
    return column.cast("decimal(38, 30)")


def run(expression):
    rows = expression.name("x").as_table()
    return rows.aggregate(n=rows.x.count(), most=rows.x.cast("string").max()).to_pyarrow()


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_allowed_fails_on_no_value(name, there):
    make, engines = EXPRESSIONS[name]
    expression, engine = make(there), there.get_backend().name
    if engine in engines.split():
        expect_no_failures(expression, engine, "data")
        run(expression)
        return
    with pytest.raises(ArgumentTypeError, match=f"sure to fail on no value, .* in {engine}: "):
        expect_no_failures(expression, engine, "data")


@pytest.mark.parametrize("name", FAILING)
def test_what_is_refused_fails(name):
    """Planted faults: each of these expressions tells of a row."""
    columns = {name: HOSTILE[kind] for name, kind in KINDS.items()}
    values = {name: (kind, DRAW.choices(some, k=ROWS)) for name, (kind, some) in columns.items()}
    rows = table(connect("duckdb"), values)
    with pytest.raises(Exception, match="Error"):
        run(EXPRESSIONS[name][0](rows))


def test_a_refusal_costs_nothing():
    rows, budget = table(connect("duckdb"), {"i": HOSTILE["int64"]}), dp.Budget(epsilon=1)
    ask, other = {"epsilon": 1, "budget": budget}, rows.view()
    for call in (
        lambda: dp.sum(rows["i"] * rows["i"], bounds=(0, 1), **ask),
        lambda: dp.sum(rows["i"], bounds=(0, 1), where=rows.i + 1 > 3, **ask),
        lambda: dp.group_by(rows.mutate(x=-rows.i), "i", keys=[1]).count(**ask),
        lambda: dp.count(rows.sample(0.5), **ask),
        lambda: dp.count(rows.join(other, rows.i + 1 == other.i), **ask),
    ):
        with pytest.raises(ArgumentTypeError, match="sure to fail on no value") as caught:
            call()
        assert len(str(caught.value).split()) < 30
    assert budget.remaining["epsilon"] == 1
