"""The queries as a user asks them, and the rows that they are about.

`rows` is what a user's database does: joins, conditions, arithmetic. The table that it returns has
a column `customer`, keys, and numbers with public bounds, which TPC-H's specification has:
quantities up to 50, prices up to 105,000, discounts up to .10, taxes up to .08.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any

import dpfast as dp

PRICE = (0, 105_000)


@dataclass(frozen=True)
class Query:
    """A query of TPC-H by its number.

    Attributes
    ----------
    number : int
    rows_of : callable
        Returns the rows, of a connection and the lines of orders.
    statistics : callable
        Returns the statistics by name.
    by : str or list of str
    keys : list
        The public keys.
    max_groups, max_rows : int
        What counts of a customer: in how many groups, and how many rows in each.
    """

    number: int
    rows_of: Callable[[Any, Any], Any]
    statistics: Callable[[], dict[str, Any]]
    by: str | Sequence[str]
    keys: Sequence[Any]
    max_groups: int
    max_rows: int

    def rows(self, con: Any, is_customer: bool) -> Any:
        """Return the rows, with their customers where these are the unit."""
        return self.rows_of(con, bought(con) if is_customer else priced(con))

    def ask(self, rows: Any, epsilon: float, is_customer: bool) -> Any:
        """Return the answer, with privacy for the loss of a customer or of a row."""
        unit = {"ids": "customer", "max_groups": self.max_groups, "max_rows": self.max_rows}
        groups = dp.group_by(rows, self.by, keys=self.keys, **(unit if is_customer else {}))
        return groups.agg(self.statistics(), epsilon=epsilon)


def priced(con: Any) -> Any:
    """The lines of all orders, with what they cost."""
    lines = con.table("lineitem")
    cost, off = lines.l_extendedprice.cast("float64"), lines.l_discount.cast("float64")
    return lines.mutate(cost=cost, off=off, price=cost * (1 - off), everything=0)


def bought(con: Any) -> Any:
    """The same, with who ordered them, and when."""
    orders = con.table("orders").select("o_orderkey", "o_orderdate", customer="o_custkey")
    return priced(con).join(orders, [("l_orderkey", "o_orderkey")])


def some(lines: Any, *names: str, **made: Any) -> Any:
    """Some columns, with that of the customers if it is there."""
    return lines.select(*(["customer"] if "customer" in lines.columns else []), *names, **made)


def rows_1(con: Any, lines: Any) -> Any:
    lines = lines.filter(lines.l_shipdate <= date(1998, 9, 2))
    charge = lines.price * (1 + lines.l_tax.cast("float64"))
    keys = {"flag": lines.l_returnflag, "status": lines.l_linestatus}
    return some(lines, "cost", "off", "price", **keys, n=lines.l_quantity, charge=charge)


def statistics_1() -> dict[str, Any]:
    return {
        "sum_qty": dp.stat.sum("n", bounds=(0, 50)),
        "sum_base_price": dp.stat.sum("cost", bounds=PRICE),
        "sum_disc_price": dp.stat.sum("price", bounds=PRICE),
        "sum_charge": dp.stat.sum("charge", bounds=(0, 113_400)),
        "avg_qty": dp.stat.mean("n", bounds=(0, 50)),
        "avg_price": dp.stat.mean("cost", bounds=PRICE),
        "avg_disc": dp.stat.mean("off", bounds=(0, 0.1)),
        "count_order": dp.stat.count(),
    }


def rows_5(con: Any, lines: Any) -> Any:
    year = date(1994, 1, 1), date(1995, 1, 1)
    lines = bought(con).filter(
        lambda line: (line.o_orderdate >= year[0]) & (line.o_orderdate < year[1])
    )
    customers = con.table("customer").select("c_custkey", "c_nationkey")
    suppliers = con.table("supplier").select("s_suppkey", "s_nationkey")
    nations = con.table("nation").select("n_nationkey", "n_regionkey", nation="n_name")
    regions = con.table("region").filter(lambda region: region.r_name == "ASIA")
    lines = lines.join(customers, [("customer", "c_custkey")])
    lines = lines.join(suppliers, [("l_suppkey", "s_suppkey"), ("c_nationkey", "s_nationkey")])
    lines = lines.join(nations, [("c_nationkey", "n_nationkey")])
    lines = lines.join(regions, [("n_regionkey", "r_regionkey")])
    return lines.select("customer", "nation", "price")


def rows_6(con: Any, lines: Any) -> Any:
    wanted = lines.filter(
        lines.l_shipdate >= date(1994, 1, 1),
        lines.l_shipdate < date(1995, 1, 1),
        lines.l_discount.between(Decimal("0.05"), Decimal("0.07")),
        lines.l_quantity < 24,
    )
    return some(wanted, "everything", revenue=wanted.cost * wanted.off)


def rows_14(con: Any, lines: Any) -> Any:
    parts = con.table("part").select("p_partkey", "p_type")
    lines = lines.join(parts, [("l_partkey", "p_partkey")])
    lines = lines.filter(lines.l_shipdate >= date(1995, 9, 1), lines.l_shipdate < date(1995, 10, 1))
    promo = lines.p_type.startswith("PROMO").ifelse(lines.price, 0.0)
    return some(lines, "everything", "price", promo=promo)


def rows_19(con: Any, lines: Any) -> Any:
    parts = con.table("part").select("p_partkey", "p_brand", "p_size", "p_container")
    lines = lines.join(parts, [("l_partkey", "p_partkey")])
    lines = lines.filter(
        lines.l_shipmode.isin(["AIR", "AIR REG"]), lines.l_shipinstruct == "DELIVER IN PERSON"
    )

    def kind(brand: str, size: str, words: list[str], least: int, largest: int) -> Any:
        boxes = [f"{size} {word}" for word in words]
        is_kind = (lines.p_brand == brand) & lines.p_container.isin(boxes)
        return (
            is_kind & lines.l_quantity.between(least, least + 10) & lines.p_size.between(1, largest)
        )

    lines = lines.filter(
        kind("Brand#12", "SM", ["CASE", "BOX", "PACK", "PKG"], 1, 5)
        | kind("Brand#23", "MED", ["BAG", "BOX", "PKG", "PACK"], 10, 10)
        | kind("Brand#34", "LG", ["CASE", "BOX", "PACK", "PKG"], 20, 15)
    )
    return some(lines, "everything", "price")


def revenue(column: str, most: float) -> Callable[[], dict[str, Any]]:
    return lambda: {"revenue": dp.stat.sum(column, bounds=(0, most))}


def statistics_14() -> dict[str, Any]:
    """The sums whose ratio the query is about."""
    return {
        "promo": dp.stat.sum("promo", bounds=PRICE),
        "total": dp.stat.sum("price", bounds=PRICE),
    }


NATIONS = ["CHINA", "INDIA", "INDONESIA", "JAPAN", "VIETNAM"]
FLAGS = [("A", "F"), ("N", "F"), ("N", "O"), ("R", "F")]
QUERIES = [
    Query(1, rows_1, statistics_1, ["flag", "status"], FLAGS, 4, 60),
    Query(5, rows_5, revenue("price", 105_000), "nation", NATIONS, 1, 3),
    Query(6, rows_6, revenue("revenue", 10_500), "everything", [0], 1, 4),
    Query(14, rows_14, statistics_14, "everything", [0], 1, 3),
    Query(19, rows_19, revenue("price", 105_000), "everything", [0], 1, 1),
]
