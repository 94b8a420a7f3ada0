"""What is kept of a call: its answer, what it is charged, what it would cost, its error bar."""

from __future__ import annotations

import inspect
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from typing import Any
from unittest.mock import patch

import dpfast as dp

from ..support.surface import RNG
from .digest import digest, shown

SEED = 2718
LIMITS: list[dict[str, Any]] = [{"epsilon": 10**6, "delta": 0.9}, {"rho": 10**6}]
RELATIONS = (None, "add-remove", "replace")
#: Budgets that are asked for the cost of each call.
BUDGETS: list[dict[str, Any]] = [
    *({**limit, "neighbors": relation} for limit in LIMITS for relation in RELATIONS),
    {**LIMITS[0], "neighbors": "add-remove", "ids": "who", "max_rows": 3},
]


@dataclass
class Call:
    """One way to call something public."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()
    kw: dict[str, Any] = field(default_factory=dict)
    #: What has the parameters, where `function` hands them on.
    of: Any = None
    #: What is asked of the answer, where that is an object.
    then: Callable[[Any], Any] = lambda answer: answer
    #: How many digits of floats count; all bits by default. Libraries of linear algebra differ in
    #: the last bits from processor to processor.
    digits: int | None = None

    def takes(self, name: str) -> bool:
        return name in inspect.signature(self.of or self.function).parameters

    def __call__(self, **more: Any) -> Any:
        return self.function(*self.args, **{**self.kw, **more})


@contextmanager
def seeded() -> Iterator[None]:
    """Give the same bits to all who ask for no generator of their own.

    Other threads, as those of a job, start anew at each stream: which release is in which thread is
    a matter of chance.
    """
    right, caller = dp.rng.InsecureGenerator.stream, threading.get_ident()
    generator = dp.rng.InsecureGenerator(SEED)

    def stream(*_: Any) -> Any:
        is_caller = threading.get_ident() == caller
        return right(generator if is_caller else dp.rng.InsecureGenerator(SEED))

    def of_tests(self: Any) -> Any:
        return stream() if self is RNG else right(self)

    with (
        patch.object(dp.rng.SecureGenerator, "stream", stream),
        patch.object(dp.rng.InsecureGenerator, "stream", of_tests),
    ):
        yield


def record(call: Call) -> dict[str, str]:
    """Return what is kept of a call; the errors of arguments are raised."""
    rng = {"rng": dp.rng.InsecureGenerator(SEED)} if call.takes("rng") else {}
    with seeded(), warnings.catch_warnings():
        warnings.simplefilter("ignore", dp.errors.SlowWarning)
        kept = {"answer": digest(call.then(call(**rng)), call.digits)}
        if call.takes("budget"):
            private = {name: value for name, value in call.kw.items() if name != "rng"}
            kept |= paid(Call(call.function, call.args, private))
    return kept


def paid(call: Call) -> dict[str, str]:
    kept = {"price": price(call)}
    if "budget" in inspect.signature(call.function).parameters:
        kept["costs"] = digest([cost(call, limit) for limit in BUDGETS])[:8]
        kept["error"] = bar(call)
    return kept


def price(call: Call) -> str:
    """Return what a call writes into the history of a budget that is large enough."""
    for limit in LIMITS:
        budget = dp.Budget(**limit)
        with suppress(dp.errors.BudgetError):
            call(budget=budget)
            break
    spent = shown({name: amount for name, amount in budget.spent.items() if amount})
    entries = []
    for entry in budget.history:
        people = "" if entry.ids is None else f" of {entry.ids}"
        amount = "" if amount_of(entry.loss).partition(" ")[2] == spent else amount_of(entry.loss)
        entries.append(f"{amount} {entry.neighbors}{people}".strip())
    return f"{spent}: {', '.join(dict.fromkeys(entries))}"


def amount_of(loss: Any) -> str:
    parts = {part.name: getattr(loss, part.name) for part in fields(loss)}
    return f"{type(loss).__name__} {shown({k: v for k, v in parts.items() if v})}"


def cost(call: Call, limit: dict[str, Any]) -> str:
    """Return what a call would cost, or that the budget refuses it."""
    try:
        return amount_of(dp.Budget(**limit).cost(call.function, *call.args, **call.kw))
    except dp.errors.DpfastError as error:
        return type(error).__name__


def bar(call: Call) -> str:
    """Return the error bar of a call, and that for 99 rows; or that it cannot be asked for."""
    try:
        told = [
            dp.expected_error(call.function, *call.args, **{**more, **call.kw})
            for more in ({}, {"rows": 99})
        ]
    except dp.errors.DpfastError as error:
        return type(error).__name__
    texts = []
    for one in told:
        ranks = [] if one.ranks is None else [f"{shown(one.ranks)} ranks"]
        texts.append(", ".join([shown(one.half_width), *ranks]).removeprefix("none, "))
    return "; ".join(dict.fromkeys(texts))
