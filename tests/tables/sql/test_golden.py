"""Statements for databases that nothing here runs: none fails on a value, by what their pages say.

Each is read by sqlglot. Functions and casts that are in no table of this file fail a test, so that
somebody looks them up.
"""

import pytest

from dpfast.tables.sql import dialects

from ...support.lazy import Lazy, exp, sqlglot

golden = Lazy("tests.tables.sql.golden", "Ibis is not installed: pip install 'dpfast[sql]'")
#: Functions that fail on no value of their type.
EVERYWHERE = """
    Abs Case And Or Cast Sum Count Min Max Coalesce Least Greatest Floor Concat RowNumber DenseRank
    Nullif If
"""
FUNCTIONS = {
    # It truncates what is whole; IEEE_DIVIDE fails on no number; MD5 gives bytes.
    "bigquery": "IsNan Trunc ieee_divide LowerHex MD5Digest DateFromParts TsOrDsToDatetime",
    "databricks": "IsNan SafeDivide Hex MD5 MAKE_DATE",
    "snowflake": "ToBinary Hex MD5 DateFromParts TimestampFromParts",
    "trino": "BITWISE_RIGHT_SHIFT IsNan Encode Hex MD5Digest FromISO8601Date FromISO8601Timestamp",
}
#: Text whose cast to bytes is its UTF-8. Snowflake reads digits, and Trino has no such cast.
CASTS_TO_BYTES = ("bigquery", "databricks")
FEW = ["decimals", "long", "people", "words", "median_of_people", "moments"]
#: One dialect has quick tests, of a few questions.
OF_DIALECTS = [
    pytest.param(("trino", FEW), id="trino, a few"),
    *(pytest.param((name, None), id=name, marks=pytest.mark.full) for name in FUNCTIONS),
]  # fmt: skip


@pytest.fixture(scope="module", params=OF_DIALECTS)
def asked(request):
    dialect, questions = request.param
    return dialect, questions or golden.QUESTIONS


@pytest.fixture
def dialect(asked):
    return asked[0]


@pytest.fixture(scope="module")
def trees(asked):
    texts = (text for name in asked[1] for text in golden.statements(asked[0], name))
    return [sqlglot.parse_one(text, dialect=asked[0]) for text in texts]


def every(trees, *kinds):
    return [node for tree in trees for node in tree.find_all(*kinds)]


def test_statements_are_those_of_the_files(asked):
    dialect, questions = asked
    for question in questions:
        text = (golden.FOLDER / dialect / f"{question}.sql").read_text(encoding="utf-8")
        if not text.startswith(golden.VERSIONS + "\n"):
            pytest.skip(f"written by other versions: {text.splitlines()[0]}")
        assert golden.written(dialect, question) == text, "python -m tests.tables.sql.golden"


def test_functions_are_known_to_fail_on_no_value(dialect, trees):
    names = {
        node.name if isinstance(node, exp.Anonymous) else type(node).__name__
        for node in every(trees, exp.Func)
    }
    assert names <= set(f"{EVERYWHERE} {FUNCTIONS[dialect]}".split())


def test_numbers_are_clamped_before_they_are_whole(trees):
    """What is cast to an integer is a floor, a sum with the magic number, or no float."""
    for cast in every(trees, exp.Cast):
        whole = cast.this.unnest()
        if not cast.is_type(*exp.DataType.INTEGER_TYPES) or isinstance(whole, exp.Case):
            continue
        if isinstance(whole, exp.Column):
            assert whole.name == "is_new"
            continue
        assert isinstance(whole, (exp.Floor, exp.Least, exp.Trunc, exp.Sub))
        if isinstance(whole, (exp.Sub, exp.Trunc)) and not whole.find(exp.Floor):
            assert all(column.find_ancestor(exp.Case) for column in whole.find_all(exp.Column))
            assert "2251799813685248" in whole.sql()


def test_sums_have_so_many_bits(dialect, trees):
    """Snowflake's numbers have 38 digits; sums of 64 bits are of pieces."""
    pieces = "".join(node.sql(dialect=dialect) for node in every(trees, exp.Sum))
    assert ("8388607" in pieces) == (dialect != "snowflake")


def test_nothing_is_divided_by_a_number_of_a_row(trees):
    for division in every(trees, exp.Div, exp.SafeDivide, exp.Anonymous):
        if isinstance(division, exp.Anonymous):
            if division.name != "ieee_divide":
                continue
            by = division.expressions[1]
        else:
            by = division.expression.unnest()
        is_count = isinstance(by, exp.Nullif) or by.name.startswith("by")
        assert is_count or int(by.find(exp.Literal).name) > 0


def test_bytes_are_cast_to_no_text_and_text_to_bytes_by_its_utf8(dialect, trees):
    """What a hash takes is the UTF-8 of numbers and of digits of bytes."""
    for cast in every(trees, exp.Cast):
        if cast.is_type("binary", "varbinary"):
            assert dialect in CASTS_TO_BYTES
        elif cast.is_type(*exp.DataType.TEXT_TYPES):
            of = cast.this.unnest()
            assert isinstance(of, exp.Sum) or of.name in ("pay", "total", "copy")
    for digest in every(trees, exp.MD5, exp.MD5Digest):
        assert isinstance(digest.this, (exp.Cast, exp.ToBinary, exp.Encode))


def test_a_cast_that_reads_digits_is_caught(monkeypatch):
    """A planted fault: Snowflake takes text that is cast to bytes for digits, or fails."""
    monkeypatch.setitem(dialects.DIALECTS, "snowflake", dialects.Dialect())
    fresh = golden.statements.__wrapped__
    words, sums = (sqlglot.parse_one(*fresh("snowflake", q), "snowflake") for q in ("words", "sum"))
    with pytest.raises(AssertionError):
        test_bytes_are_cast_to_no_text_and_text_to_bytes_by_its_utf8("snowflake", [words])
    with pytest.raises(AssertionError):
        test_sums_have_so_many_bits("snowflake", [sums])
