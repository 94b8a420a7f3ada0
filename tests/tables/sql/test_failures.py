"""What a user computes in a database fails on no value, or is refused before the spend."""

import random
from decimal import Decimal

import pytest

import dpfast as dp
from dpfast.errors import ArgumentTypeError
from dpfast.tables.sql.failures import expect_no_failures
from tests.support.databases import ENGINES, HOSTILE, connect, ibis, table

from ...support.pairwise import quick_rows

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
    "a year": (lambda t: t.day.year(), f"{DUCK} {LITE}"),
    "a month of a year": (lambda t: t.day.year() * 100 + t.day.month(), f"{DUCK} {LITE}"),
    "a second": (lambda t: t.ts.second(), f"{DUCK} {LITE}"),
    "a weekday": (lambda t: t.day.day_of_week.full_name(), f"{DUCK} {LITE}"),
    "later": (lambda t: t.day < ibis.date("1994-01-01") + ibis.interval(years=1), ""),
    "a day later": (lambda t: t.day + ibis.interval(days=1) < "1994-01-01", ""),
    "a month": (lambda t: t.day.truncate("M"), ""),
    "minutes": (lambda t: (t.j // 100) * 60 + t.j % 100, ALL),
    "minutes of 16 bits": (lambda t: (t.h // 100) * 60 + t.h % 100, ALL),
    "bins": (lambda t: (t.j // 15) * 15, ALL),
    "buckets": (lambda t: t.a.bucket([0, 10, 20]), ALL),
    "buckets of decimals": (lambda t: t.d.bucket([0, 10, 20]), ALL),
    "a slice": (lambda t: t.s[:2], ALL),
    "the right": (lambda t: t.s.right(2), ALL),
    "another letter": (lambda t: t.s.replace("a", "b").find("b"), ALL),
    "another word": (lambda t: t.s.replace("a", t.u), ""),
    "a logarithm of more": (lambda t: t.a.clip(1, None).ln(), f"{DUCK} {POST}"),
    "a logarithm by name": (lambda t: t.a.clip(1, None).log(), DUCK),
    "a logarithm of 0": (lambda t: t.a.clip(0, None).ln(), ""),
    "digits of 10": (lambda t: t.j.clip(1, None).log10(), f"{DUCK} {POST}"),
    "a root of more": (lambda t: t.a.clip(0, None).sqrt(), f"{DUCK} {POST}"),
    "a square": (lambda t: t.a**2 + t.j**2, DUCK),
    "a power of decimals": (lambda t: t.d**2, ""),
    "decimals to digits": (lambda t: t.d.round(2), ALL),
    "decimals to more digits": (lambda t: t.d.round(6), LITE),
    "whole and clipped": (lambda t: t.a.clip(0, 100).cast("int64"), ALL),
    "whole and not as high": (lambda t: t.a.clip(None, 100).cast("int64"), LITE),
    "rounded and clipped": (lambda t: t.a.clip(-100, 100).round(), ALL),
    "hours": (lambda t: t.j / 60.0, ALL),
    "hours of floats": (lambda t: t.a / 60.0, f"{DUCK} {LITE}"),
    "a share of decimals": (lambda t: t.d / 7.0, ALL),
    "the row before": (lambda t: t.mutate(x=t.a.lag().over(order_by=t.i)).x, ALL),
    "totals of floats": (lambda t: of_groups(t.a.sum()), f"{DUCK} {LITE}"),
    "totals of clipped": (lambda t: of_groups(t.a.clip(0, 100).sum()), ALL),
    "means of clipped": (lambda t: of_groups(t.a.clip(-9, 9).mean()), ALL),
    "means of integers": (lambda t: of_groups(t.i.mean()), ALL),
    "how many": (lambda t: of_groups((t.a > 3).sum()), ALL),
    "totals of decimals": (lambda t: of_groups(t.d.sum()), f"{DUCK} {POST}"),
    "totals of either": (lambda t: of_groups(ibis.coalesce(t.a, t.i).sum()), DUCK),
    "an absolute of either": (lambda t: ibis.coalesce(t.a, t.i).abs(), f"{DUCK} {POST}"),
    "an absolute of decimals": (lambda t: t.d.abs(), POST),
    "an absolute of 16 bits": (lambda t: t.h.cast("int32").abs(), f"{DUCK} {POST}"),
    "an absolute and clipped": (lambda t: t.i.clip(-9, 9).abs(), ALL),
    "bits": (lambda t: t.i ^ t.j, f"{DUCK} {POST}"),
    "not a number": (lambda t: t.a.isnan() | t.a.isinf(), f"{DUCK} {POST}"),
    "some": (lambda t: of_groups(t.a.arbitrary()), f"{DUCK} {LITE}"),
    "the first": (lambda t: of_groups(t.a.first()), f"{DUCK} {LITE}"),
    "counted of 64 bits": (lambda t: (t.a > 3).cast("int64") * 5, f"{DUCK} {LITE}"),
    "counted of floats": (lambda t: (t.a > 3).cast("float64"), f"{DUCK} {LITE}"),
    "yes or 1": (lambda t: t.yes == 1, f"{DUCK} {LITE}"),
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
    "of totals": (lambda t: of_groups(t.i.sum()) + 1, ""),
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
    "or another", "a range", "no tiles", "a logarithm of 0", "decimals to more digits",
    "whole and not as high",
]  # fmt: skip


def long(column):
    return column.cast("decimal(38, 4)")


def fine(column):
    return column.cast("decimal(38, 30)")


def of_groups(total):
    table, *_ = total.op().find(ibis.expr.operations.DatabaseTable)
    return table.to_expr().group_by("s").aggregate(x=total).x


def run(expression):
    rows = expression.name("x").as_table()
    return rows.aggregate(n=rows.x.count(), most=rows.x.cast("string").max()).to_pyarrow()


@quick_rows(40, full=160)
@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_allowed_fails_on_no_value(name, there):
    make, engines = EXPRESSIONS[name]
    expression, engine = make(there), there.get_backend().name
    if engine in engines.split():
        expect_no_failures(expression, engine, "data")
        run(expression)
        return
    with pytest.raises(ArgumentTypeError, match=f"that never fails, .* in {engine}: "):
        expect_no_failures(expression, engine, "data")


@quick_rows(8)
@pytest.mark.parametrize("name", FAILING)
def test_what_is_refused_fails(name):
    """Planted faults: each of these expressions tells of a row."""
    columns = {name: HOSTILE[kind] for name, kind in KINDS.items()}
    values = {name: (kind, DRAW.choices(some, k=ROWS)) for name, (kind, some) in columns.items()}
    rows = table(connect("duckdb"), values)
    with pytest.raises(Exception, match="Error"):
        run(EXPRESSIONS[name][0](rows))


def test_sqlite_has_any_value_in_a_column_of_any_type():
    """Planted faults: integers of 64 bits and text in columns of decimals and of few bits."""
    con = ibis.sqlite.connect()
    con.raw_sql("create table t (a double, d decimal(18, 4), h int2, i bigint, j int, yes bool)")
    row = (None, -(2**63), -(2**63), -(2**63), "text", True)
    con.con.executemany("insert into t values (?, ?, ?, ?, ?, ?)", [row, row])
    t = con.table("t")
    either, groups = ibis.coalesce(t.a, t.i), t.group_by("yes")
    for expression in (
        *(groups.aggregate(x=t.d.sum()).x, groups.aggregate(x=either.sum()).x, either.abs()),
        *(t.d.abs(), t.h.cast("int32").abs(), t.i ^ t.j),
    ):
        with pytest.raises(ArgumentTypeError, match="that never fails"):
            expect_no_failures(expression, "sqlite", "data")
        with pytest.raises(Exception, match=r"overflow|exception"):
            con.con.execute(con.compile(expression)).fetchall()


def test_days_that_no_time_has():
    """Planted faults: DuckDB has dates that are beyond its times."""
    con = ibis.duckdb.connect()
    con.raw_sql("create table far as select unnest(['infinity', '5000000-01-01'])::date as day")
    day = con.table("far").day
    for name in ("later", "a day later", "a month"):
        with pytest.raises(Exception, match="Error"):
            EXPRESSIONS[name][0](con.table("far")).to_pyarrow()
    for make in (day.year() * 100 + day.month(), day.day_of_week.full_name()):
        expect_no_failures(make, "duckdb", "data")
        make.to_pyarrow()


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
        with pytest.raises(ArgumentTypeError, match="that never fails") as caught:
            call()
        assert len(str(caught.value).split()) < 30
    assert budget.remaining["epsilon"] == 1
