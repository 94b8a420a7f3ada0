"""Noisy sums of another party, over a connection: send queries, receive noisy answers.

A message is a line of JSON, followed by the bits of row sets if there are any. `_answer` lists all
possible queries. Nothing that is received is ever executed or unpickled. An answer is one of

* public facts: the number of rows, the relation, the number of queries left, standard deviations of
  noise;
* noisy answers, as `NoisySums` gave them;
* the name and the text of an error about the query, the columns, or the remaining queries. Such an
  error is raised before the data are read. For a `DataError`, which is an answer that has been paid
  for, only its type is reported. Any other error is reported as a `SourceError` without details.
"""

from __future__ import annotations

import json
import threading
from typing import Any, NoReturn, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._core import checks
from .._core.owner_log import hide_error
from ..errors import ArgumentError, ArgumentTypeError, BudgetError, DataError, SourceError
from .conditions import Condition, read
from .noisy_sums import NoisySums
from .row_sets import RowSets

#: The most bytes of the text of a query (without its row sets), and of an answer (without its
#: numbers).
WORDS = 1 << 20
#: The most bytes of a number, and the most row sets of a query.
NUMBER, SETS = 32, 1 << 20
#: Numbers in an answer are smaller than this in absolute value. Then the squares of many can be
#: added.
LARGEST = 2.0**200
#: Errors whose text is sent to the other party.
SAID_TO_THE_OTHER = (ArgumentError, ArgumentTypeError, BudgetError)
NAMES: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (*SAID_TO_THE_OTHER, DataError, SourceError)
}


class Connection(Protocol):
    """The protocol of a connection for messages of bytes, such as `multiprocessing.Pipe`."""

    def send_bytes(self, buf: bytes) -> None: ...
    def recv_bytes(self, maxlength: int | None = None) -> bytes: ...


def serve(sums: NoisySums, connection: Connection, *, largest: int = 1 << 30) -> int:
    """Answer the queries of another party from `NoisySums` until that party closes the connection.

    Two parties hold different columns of the same people. One calls `serve`, and the other queries
    it by `RemoteSums`.

    Privacy
    -------
    Neighbors are datasets that differ in one row. All answers together, to any queries, satisfy the
    loss of `sums` (Blum, Dwork, McSherry and Nissim, PODS 2005). This loss was spent when `sums`
    was created. After its last query, further queries are refused.

    No row, no exact number and no randomness is sent, and nothing that is received is executed.
    Under "add-remove", sets of rows are refused, because whether a set has the right size would
    reveal the number of rows. The time of an answer is not hidden.

    Parameters
    ----------
    sums : NoisySums
        The noisy sums over the columns that this party holds.
    connection : object with ``send_bytes`` and ``recv_bytes``
        A connection of `multiprocessing.Pipe` or `multiprocessing.connection.Listener`.
    largest : int, default 2**30
        The largest size of a query in bytes. A query may have up to 2**20 row sets, which take an
        eighth of a byte for each row and set. Apart from these it may take 2**20 bytes.

    Returns
    -------
    int
        The number of messages that were answered.

    Raises
    ------
    ArgumentTypeError
        If `sums` is not a `NoisySums`.
    OSError
        If the connection breaks, or a query is larger than `largest`.

    Notes
    -----
    Cost: as for `sums`. The call waits as long as the other party takes.

    Examples
    --------
    One party serves noisy sums of 1000 rows in a thread, and the other party asks two queries:

    >>> import multiprocessing, threading, numpy as np, dpfast as dp
    >>> here, there = multiprocessing.Pipe()
    >>> sums = dp.sulq.NoisySums(np.arange(1000), rho=0.5, queries=2, neighbors="replace")
    >>> party = threading.Thread(target=dp.sulq.serve, args=(sums, there))
    >>> party.start()
    >>> remote = dp.sulq.RemoteSums(here)
    >>> remote.rows, remote.remaining
    (1000, 2)
    >>> 490 < remote.sum(dp.sulq.Attribute(low=500)) < 510
    True
    >>> sets = dp.sulq.RowSets.random(1000, 3)
    >>> total, contrasts = remote.contrasts(dp.sulq.Attribute(low=500), sets)
    >>> bool((abs(contrasts) < 100 + 6 * remote.contrast_deviation(3)).all())
    True
    >>> here.close(), party.join()
    (None, None)
    """
    if not isinstance(sums, NoisySums):
        checks.fail_type("sums", "a dpfast.sulq.NoisySums", sums)
    limit = checks.whole("largest", largest, 1)
    answered = 0
    while True:
        try:
            message = connection.recv_bytes(limit)
        except EOFError:
            return answered
        connection.send_bytes(_reply(sums, message))
        answered += 1


def _reply(sums: NoisySums, message: bytes) -> bytes:
    try:
        reply = {"answer": _answer(sums, message)}
    except SAID_TO_THE_OTHER as error:
        reply = {"error": [type(error).__name__, str(error)]}
    except DataError:  # the text of the error may name a file
        reply = {"error": ["DataError", "the data contain a value that the query does not allow"]}
    except Exception as error:  # the text of the error may contain anything
        hide_error(error)
        reply = {"error": ["SourceError", "the other party could not answer the query"]}
    return json.dumps(reply).encode()


def _answer(sums: NoisySums, message: bytes) -> Any:
    end = message.find(b"\n", 0, WORDS + 1)
    head, bits = (message, b"") if end < 0 else (message[:end], message[end + 1 :])
    question = _json(head) if len(head) <= WORDS else None
    if not isinstance(question, dict):
        checks.fail("a query", "a query that this version knows", "something else")
    numbered = sums.neighbors == "replace" or question.get("sets") is None
    if (
        not numbered and question.get("ask") != "noise"
    ):  # whether a set fits would reveal the number of rows
        checks.fail(
            "sets",
            "left out unless neighbors='replace', because rows have no fixed numbers otherwise",
            f"neighbors={sums.neighbors!r}",
        )
    match question:
        case {"ask": "facts"}:
            return {
                "rows": sums.rows,
                "neighbors": sums.neighbors,
                "remaining": sums.remaining,
                "deviation": sums.deviation,
                "loss": repr(sums.loss),
            }
        case {"ask": "noise", "sets": int(sets)}:
            return sums.contrast_deviation(sets)
        case {"ask": "sum", "f": f, "sets": None}:
            return [sums.sum(read(f))]
        case {"ask": "sum", "f": f, "sets": [int(rows), 1]}:
            return [sums.sum(read(f), _sets(sums, bits, rows, 1).mask(0))]
        case {"ask": "contrasts", "f": f, "sets": [int(rows), int(sets)]}:
            total, contrasts = sums.contrasts(read(f), _sets(sums, bits, rows, sets))
            return [total, *contrasts.tolist()]
    checks.fail("a query", "a query that this version knows", question)


def _sets(sums: NoisySums, bits: bytes, rows: int, sets: int) -> RowSets:
    """Return the row sets of a question; refuse sets that do not fit a public number of rows."""
    if sums.rows is not None and rows != sums.rows:
        checks.fail("sets", f"sets over {sums.rows} rows, like the data", f"{rows} rows")
    if sets > SETS:
        checks.fail("sets", f"at most {SETS}", sets)
    return RowSets.from_bytes(bits, rows, sets)


class RemoteSums:
    """Send queries to the `NoisySums` of another party through a connection.

    The other party calls `serve`. Its answers are private by its `NoisySums`. NOT PRIVATE: this
    object itself adds no protection.

    Parameters
    ----------
    connection : object with ``send_bytes`` and ``recv_bytes``
        A connection to `serve`.

    Attributes
    ----------
    rows : int or None
        The number of rows of the other party, if it is public.
    neighbors : str
        The neighboring relation of the other party's loss.
    remaining : int
        How many queries are left. Each read asks the other party.
    deviation : float
        The standard deviation of the noise of a sum.
    loss : str
        The loss of all answers of the other party, as text.

    Raises
    ------
    SourceError
        If the other party does not respond, or sends a message that is not an answer.
    ArgumentError, ArgumentTypeError, BudgetError, DataError
        If the `NoisySums` of the other party refuses the query.

    Notes
    -----
    Cost: one message for each query, with an eighth of a byte for each row and set. A call waits as
    long as the other party takes. A message that is longer than any answer is refused.

    Examples
    --------
    See `dpfast.sulq.serve`.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection, self._lock = connection, threading.Lock()
        facts = self._facts()
        self.rows: int | None = facts["rows"]
        self.neighbors: str = facts["neighbors"]
        self.deviation: float = facts["deviation"]
        self.loss: str = facts["loss"]

    def __repr__(self) -> str:
        return f"RemoteSums({self.loss})"

    @property
    def remaining(self) -> int:
        """The number of queries that the other party will still answer."""
        return int(self._facts()["remaining"])

    def contrast_deviation(self, sets: int) -> float:
        """Return the standard deviation of the noise of each contrast of `sets` row sets.

        Parameters
        ----------
        sets : int
            The number of sets in one query.

        Returns
        -------
        float
            The standard deviation.
        """
        r = checks.whole("sets", sets)
        return self._numbers([self._ask({"ask": "noise", "sets": r})], 1)[0]

    def sum(self, f: Condition, rows: ArrayLike | None = None) -> float:
        """Return the noisy number of rows where a condition holds.

        Parameters
        ----------
        f : Condition
            A condition on the columns of the other party.
        rows : array_like of bool, optional
            The public set of rows to count, by default all rows.

        Returns
        -------
        float
            The noisy number.
        """
        sets = None if rows is None else RowSets(cast(ArrayLike, [rows]))
        return self._noisy("sum", f, sets, 1)[0]

    def contrasts(
        self, f: Condition, sets: RowSets | ArrayLike
    ) -> tuple[float, NDArray[np.float64]]:
        """Return the noisy number of rows where a condition holds, and the noisy contrasts.

        Parameters
        ----------
        f : Condition
            A condition on the columns of the other party.
        sets : RowSets, or array_like of bool of shape (sets, n)
            The public sets of rows.

        Returns
        -------
        (float, float64 array)
            The noisy number, and the noisy contrast of each set, as in `NoisySums.contrasts`.
        """
        row_sets = sets if isinstance(sets, RowSets) else RowSets(sets)
        total, *contrasts = self._noisy("contrasts", f, row_sets, 1 + len(row_sets))
        return total, np.array(contrasts, np.float64)

    def _facts(self) -> dict[str, Any]:
        facts = self._ask({"ask": "facts"})
        match facts:
            case {
                "rows": int() | None as rows,
                "neighbors": str(),
                "remaining": int(remaining),
                "deviation": float(),
                "loss": str(),
            } if all(type(x) is int and x >= 0 for x in (remaining, rows) if x is not None):
                self._numbers([facts["deviation"]], 1)
                return dict(facts)
        _unknown()

    def _noisy(self, ask: str, f: Any, sets: RowSets | None, size: int) -> list[float]:
        if not isinstance(f, Condition):
            checks.fail_kind("f", "a condition made of dpfast.sulq.Attribute", f)
        shape = None if sets is None else [sets.rows, len(sets)]
        return self._numbers(self._ask({"ask": ask, "f": f.written(), "sets": shape}, sets), size)

    def _ask(self, question: dict[str, Any], sets: RowSets | None = None) -> Any:
        message, longest = json.dumps(question).encode(), WORDS
        if sets is not None:
            message += b"\n" + sets.to_bytes()
            longest += NUMBER * len(sets)
        with self._lock:
            try:
                self._connection.send_bytes(message)
                reply = self._connection.recv_bytes(longest)
            except (EOFError, OSError) as error:
                raise SourceError(f"the other party does not answer: {error}") from error
        match _json(reply):
            case {"answer": answer}:
                return answer
            case {"error": [str(kind), str(text)]} if kind in NAMES:
                raise NAMES[kind](text)
        _unknown()

    def _numbers(self, answer: Any, size: int) -> list[float]:
        if not isinstance(answer, list) or len(answer) != size:
            _unknown()
        if not all(isinstance(x, float) and abs(x) < LARGEST for x in answer):
            _unknown()
        return answer


def _json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unknown() -> NoReturn:
    raise SourceError("the other party sent a message that is not an answer")
