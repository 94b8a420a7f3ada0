"""Black-box lower bounds on the loss of any mechanism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpfast import privacy
from dpfast.extend import Number, checks, extra, html
from dpfast.privacy import Loss

from .answers import Answers, Matrix
from .binomial import Claim, at_least, at_most, epsilon_between, rho_between
from .events import Event, Score, choose

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The answers on each dataset in the first round; the factor by which rounds grow; the events of a
#: round; the numbers of answers that are kept for the choice of events.
FIRST, LONGER, EVENTS, KEPT = 128, 4, 4, 1 << 20
#: The events of a round in an audit of supports: one for each statistic.
SUPPORT_EVENTS = 40
#: The default number of answers on both datasets together: for mechanisms that return one answer
#: per call, and for those that return many.
ONE_BY_ONE, MANY = 100_000, 2_000_000


@dataclass(frozen=True)
class Audit:
    """The result of an audit: lower bounds on a mechanism's loss, and whether a claim is refuted.

    Attributes
    ----------
    claim : Loss
        The loss that was claimed.
    epsilon : float
        A lower bound of the true epsilon at `delta`, wrong with probability ``1 - confidence``.
    delta : float
        The delta of the claim, or 0.
    rho : float
        A lower bound of the true rho, likewise.
    p_value : float
        An upper bound on the probability of answers that speak so clearly against the claim, if the
        claim holds.
    refuted : bool
        Whether `p_value` is at most ``1 - confidence``.
    witness : str
        The event that shows the loss, and how often it occurred.
    samples : int
        The number of answers on both datasets together.
    confidence : float
        The confidence of each bound.
    rounds : tuple
        Pairs of a number of samples and the bound on epsilon (or on rho, if that was claimed) at
        that point.
    refutable : float or None
        The power: an event that is impossible on one dataset must have at least this probability on
        the other to refute the claim in the last round; None if no event could.
    largest : float
        The largest epsilon that so many answers could show in the last round, at the delta of the
        claim; or the largest rho, if a rho was claimed.

    Examples
    --------
    >>> import dpfast as dp
    >>> found = dp.audit.measure(len, [1, 2], [1], epsilon=1)
    >>> found.witness[:15]
    'the answer is 2'
    >>> found.to_dict()["refuted"], len(found.plot().axes)
    (True, 1)
    """

    claim: Loss
    epsilon: float
    delta: float
    rho: float
    p_value: float
    refuted: bool
    witness: str
    samples: int
    confidence: float
    rounds: tuple[tuple[int, float], ...]
    refutable: float | None = None
    largest: float = 0.0

    def __repr__(self) -> str:
        word = "REFUTED" if self.refuted else "not refuted"
        at = f" at delta={self.delta:.3g}" if self.delta else ""
        return (
            f"{self.claim!r} {word} (p-value {self.p_value:.3g}): epsilon >= {self.epsilon:.4g}"
            f"{at}, rho >= {self.rho:.4g}, of {self.samples:,} answers; {self.witness}; "
            f"{self._sight()}"
        )

    def _sight(self) -> str:
        """Return as text which events the audit was able to refute the claim by."""
        if self.refutable is None:
            return "nothing could have refuted it"
        least = f"from a probability of {self.refutable:.2g}"
        most = f"no loss above {self.largest:.3g} could be shown"
        return f"an event of one of the data alone would, {least}; {most}"

    def _repr_html_(self) -> str:
        rows = {
            "claim": repr(self.claim),
            "verdict": "refuted" if self.refuted else "not refuted",
            "epsilon, at least": f"{self.epsilon:.4g}",
            "delta": f"{self.delta:.3g}",
            "rho, at least": f"{self.rho:.4g}",
            "p-value": f"{self.p_value:.3g}",
            "answers": f"{self.samples:,}",
            "witness": self.witness,
            "sight": self._sight(),
        }
        return html.facts("Audit", rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as a dict of numbers and text that JSON can hold.

        Returns
        -------
        dict
        """
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "rounds"}
        # The name that reports have had from the start.
        values["smallest"] = values.pop("refutable")
        return values | {"claim": repr(self.claim)}

    def plot(self) -> Figure:
        """Return a figure of the lower bound of the loss by the number of answers, with the claim.

        Returns
        -------
        matplotlib.figure.Figure
        """
        picture: Figure = extra("matplotlib.figure", "a plot").Figure(layout="constrained")
        panel = picture.subplots()
        claim = Claim.of(self.claim)
        panel.plot(*zip(*self.rounds, strict=True), "o-", label="shown")
        panel.axhline(claim.amount, color="0.3", linestyle="--", label="claimed")
        panel.set(xscale="log", xlabel="answers", ylabel="rho" if claim.by_rho else "epsilon")
        panel.legend()
        return picture


def measure(
    mechanism: Callable[..., Any],
    x: Any,
    x2: Any,
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    samples: int | None = None,
    confidence: float = 1 - 1e-6,
    workers: int = 1,
) -> Audit:
    """Test a privacy claim on two neighbors, and bound the loss of any mechanism from below.

    NOT PRIVATE: use data that are made up for the test. The mechanism may be any function of any
    library. A claim that is not refuted is not proved: other neighbors, or more answers, may refute
    it.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(data)`` returns an answer: a number, an array, text, or a tuple or mapping of
        these; an error is an answer as well, and printed text and warnings are part of it. If it
        has an argument `size`, ``mechanism(data, size)`` returns an array of so many independent
        answers, which is faster.
    x, x2 : object
        Two neighbors. Each is passed to the mechanism unchanged.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The claim: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    samples : int, optional
        The largest number of answers, on both datasets together, at least 1024. By default 100,000,
        or 2,000,000 if the mechanism has a `size`. A claim that is refuted early takes fewer.
    confidence : float, default 1 - 1e-6
        The confidence of a refutation, and of each bound.
    workers : int, default 1
        The number of threads that may call a mechanism with a `size` at the same time. The
        generator of the mechanism has to allow that.

    Returns
    -------
    Audit
        The bounds, the p-value, the verdict and a witness.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule, or all answers on both datasets are the same error.
    MissingExtraError
        If SciPy is missing.

    See Also
    --------
    support : answers that only one of two neighbors can have.
    neighbors : pairs that are worth a try.

    Notes
    -----
    Each round has four times as many answers as the one before. In each round, four events are
    chosen from the answers of earlier rounds: tails, single values, or unions of bins with a high
    likelihood ratio. They are events of the answer, of its kind, of its lowest bits and, for
    vectors, of sums, extremes and Fisher's discriminant. New answers are then counted, and exact
    limits of both probabilities (Clopper and Pearson, 1934) bound the loss. The error probability
    is shared equally by all events of all rounds, so the audit may stop after any round (Lokna et
    al., CCS 2023, choose events likewise).

    Cost: the calls of the mechanism, and about 10 ns for each of many answers of a simple event.
    Memory: some chunks of 2**18 answers.

    Examples
    --------
    >>> import dpfast as dp
    >>> def little_noise(data, size):
    ...     return sum(data) + dp.noise.discrete_laplace(0.25, size)
    >>> audit = dp.audit.measure(little_noise, [1, 1], [1, 0], epsilon=1)
    >>> audit.refuted
    True
    """
    claim = privacy.loss(epsilon, delta, rho)
    return rounds_of(setting_of(mechanism, samples, confidence, workers), x, x2, claim)[0]


def measure_answers(
    answers: Any,
    answers2: Any,
    *,
    epsilon: Number | None = None,
    delta: Number = 0.0,
    rho: Number | None = None,
    confidence: float = 1 - 1e-6,
) -> Audit:
    """Test a privacy claim on given answers on two neighbors, and bound the loss from below.

    NOT PRIVATE: use answers on data that are made up for the test. This function is `measure` for
    answers from another process, language or machine.

    Parameters
    ----------
    answers, answers2 : array_like, shape (n,) or (n, ...)
        Independent answers on each of two neighbors, in the order in which they were drawn, one
        answer a row: equally many for both, at least 256.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The claim: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    confidence : float, default 1 - 1e-6
        The confidence of a refutation, and of each bound.

    Returns
    -------
    Audit
        The bounds, of all answers, the p-value, the verdict and a witness.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.
    MissingExtraError
        If SciPy is missing.

    See Also
    --------
    measure : calls the mechanism itself, and ends once the claim is refuted.

    Notes
    -----
    The events are the same as in `measure`; they are chosen from the first half of the answers and
    counted in the second half. So the order of the answers must not depend on their values.

    Examples
    --------
    >>> import dpfast as dp
    >>> x, x2 = (count + dp.noise.discrete_laplace(0.5, 4000) for count in (3, 2))
    >>> dp.audit.measure_answers(x, x2, epsilon=1).refuted
    True
    """
    claim = privacy.loss(epsilon, delta, rho)
    left = [_checked("answers", answers)], [_checked("answers2", answers2)]
    number, other = (len(array) for (array,) in left)
    if number != other:
        checks.fail("answers2", f"as many as answers, {number}", other)

    def next_ones(left: list[NDArray[Any]], size: int) -> NDArray[Any]:
        taken, left[0] = left[0][:size], left[0][size:]
        return taken

    setting = setting_of(next_ones, None, confidence, 1)
    return rounds_of(replace(setting, samples=2 * number, there=True), *left, claim)[0]


def _checked(name: str, answers: Any) -> NDArray[Any]:
    rule = "an array of at least 256 answers, one a row"
    array = checks.array(name, answers, rule)
    if array.ndim < 1 or len(array) < 256:
        checks.fail(name, rule, f"the shape {array.shape}")
    return array


@dataclass(frozen=True)
class Setting:
    """The mechanism to audit, the number of answers, and the confidence."""

    answers: Answers
    samples: int
    confidence: float
    support: bool = False
    #: Whether the answers are given. Then all are used, and the first half chooses the events.
    there: bool = False

    @property
    def sizes(self) -> list[int]:
        """The number of answers on either dataset in each round of the audit."""
        if self.there:
            return [self.samples // 4, self.samples // 2 - self.samples // 4]
        left, sizes = self.samples // 2, list[int]()
        while left:
            size = FIRST * LONGER ** len(sizes)
            # So that there are at least two rounds, and the last is the longest.
            most = size * (1 + LONGER if sizes else 2)
            sizes.append(size if left >= most else left)
            left -= sizes[-1]
        return sizes


def setting_of(
    mechanism: Any, samples: Any, confidence: Any, workers: Any, support: bool = False
) -> Setting:
    if not callable(mechanism):
        checks.fail_type("mechanism", "a function of the data", mechanism)
    sure = checks.share("confidence", confidence)
    answers = Answers(mechanism, min(checks.whole("workers", workers, 1), 64))
    number = MANY if answers.many else ONE_BY_ONE
    if samples is not None:
        number = checks.whole("samples", samples, 1024, 1 << 40)
    return Setting(answers, number, sure, support)


@dataclass(frozen=True)
class Shown:
    """A lower bound on the loss, shown by the counts of one event in one round."""

    event: Event
    epsilon: float
    rho: float
    #: The p-value of this event, multiplied by the number of events.
    p_value: float
    likely: float
    rare: float

    @classmethod
    def of(
        cls, event: Event, k: int, m: int, size: int, alpha: float, tests: int, claim: Claim
    ) -> Shown:
        """Return the loss that an event shows, if it is counted k times on x and m times on x2."""
        likely, rare = (m, k) if event.swapped else (k, m)
        level = alpha / tests / 2
        p, q = at_least(likely, size, level), at_most(rare, size, level)
        return cls(
            event=event,
            epsilon=float(epsilon_between(p, q, claim.delta)),
            rho=float(rho_between(p, q)),
            p_value=claim.p_value(likely, rare, size) * tests,
            likely=p,
            rare=q,
        )

    def amount(self, claim: Claim) -> float:
        """Return the shown rho if rho is claimed, else the shown epsilon."""
        return self.rho if claim.by_rho else self.epsilon

    def __str__(self) -> str:
        on, other = ("x2", "x") if self.event.swapped else ("x", "x2")
        return (
            f"{self.event} in {self.likely:.4g} or more of the answers on {on}, and in "
            f"{self.rare:.4g} or less of those on {other}"
        )


def rounds_of(setting: Setting, x: Any, x2: Any, loss: Loss) -> tuple[Audit, list[Shown]]:
    """Run the rounds of an audit, to the end or until the claim is refuted.

    Events of all rounds share the error probability. Returns the audit, and the loss that each
    event shows.
    """
    claim, alpha = Claim.of(loss), 1 - setting.confidence
    sizes, shown = setting.sizes, list[Shown]()
    kept = [np.concatenate(list(setting.answers.chunks(data, sizes[0]))) for data in (x, x2)]
    _refuse_failure(setting)
    done, most = sizes[0], SUPPORT_EVENTS if setting.support else EVENTS
    tests, rounds = (len(sizes) - 1) * most, list[tuple[int, float]]()
    for size in sizes[1:]:
        score = Score(claim, size)
        events = choose(kept[0], kept[1], list(setting.answers.kinds), most, score, setting.support)
        counts = [_count(setting, data, size, events, kept, i) for i, data in enumerate((x, x2))]
        length = min(map(len, kept))
        kept = [rows[:length] for rows in kept]
        done += size
        shown += [
            Shown.of(event, int(k), int(m), size, alpha, tests, claim)
            for event, k, m in zip(events, *counts, strict=True)
        ]
        rounds.append((2 * done, max(event.amount(claim) for event in shown)))
        if not setting.support and min(event.p_value for event in shown) <= alpha:
            break
    clearest = min(shown, key=lambda event: (event.p_value, -event.amount(claim)))
    audit = Audit(
        claim=loss,
        epsilon=max(event.epsilon for event in shown),
        delta=claim.delta,
        rho=max(event.rho for event in shown),
        p_value=min(1.0, clearest.p_value),
        refuted=clearest.p_value <= alpha,
        witness=str(clearest),
        samples=2 * done,
        confidence=setting.confidence,
        rounds=tuple(rounds),
        refutable=claim.least(size, alpha / tests),
        largest=claim.largest(size, alpha / tests),
    )
    return audit, shown


def _count(
    setting: Setting, data: Any, size: int, events: list[Event], kept: list[Matrix], i: int
) -> NDArray[np.int64]:
    """Count events in new answers on one dataset; keep some answers to choose later events."""
    counts, fresh = np.zeros(len(events), np.int64), list[Matrix]()
    for rows in setting.answers.chunks(data, size):
        counts += [event.count(rows) for event in events]
        if sum(map(len, fresh)) < _limit(rows):
            fresh.append(rows)
    kept[i] = np.concatenate([*fresh, kept[i]])[: _limit(kept[i])]
    return counts


def _limit(rows: Matrix) -> int:
    return max(FIRST, KEPT // 4 // int(rows.shape[1]))


def _refuse_failure(setting: Setting) -> None:
    """Refuse a mechanism that raises an error in each call."""
    kinds = list(setting.answers.kinds)
    if len(kinds) == 1 and kinds[0].startswith("the error "):
        rule = "a function that takes these data"
        checks.fail("mechanism", rule, f"{kinds[0].removeprefix('the error ')} from each call")


@dataclass(frozen=True)
class Support:
    """The result of `support`: answers that one of two neighbors gives, and the other hardly ever.

    Attributes
    ----------
    same : bool
        Whether no difference was found.
    differences : tuple of str
        A sentence for each statistic of the answers that distinguishes the neighbors.
    samples : int
        The number of answers on both datasets together.
    confidence : float
        The confidence that all differences together are real.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.audit.support(lambda data: 1.0 * sum(data), [1], [1, 1], epsilon=1).same
    False
    """

    same: bool
    differences: tuple[str, ...]
    samples: int
    confidence: float


def support(
    mechanism: Callable[..., Any],
    x: Any,
    x2: Any,
    *,
    epsilon: Number = 1.0,
    delta: Number = 0.0,
    samples: int | None = None,
    confidence: float = 1 - 1e-6,
    workers: int = 1,
) -> Support:
    """Find answers that only one of two neighbors can have.

    NOT PRIVATE: use data that are made up for the test. The audit looks at the kind of an answer
    (its type, shape, keys, or error), NaN, infinities and minus zero, single values, the exponent
    of the lowest bit, and the last bits of a float: these do not depend on the data if noise is
    drawn on a public grid (Mironov, CCS 2012, attacks other noise).

    Parameters
    ----------
    mechanism, x, x2, samples, confidence, workers : optional
        As in `measure`.
    epsilon, delta : float, Fraction or Decimal, default 1 and 0
        The claim. A difference is reported if the claim does not allow it.

    Returns
    -------
    Support
        All differences, the most significant first.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.
    MissingExtraError
        If SciPy is missing.

    Notes
    -----
    Limits of probabilities are exact, as in `measure`; the error probability is shared equally by
    up to 40 events a round. All `samples` are drawn. Cost: mostly the calls of the mechanism.

    Examples
    --------
    >>> import dpfast as dp
    >>> def typed(data):  # an int or a float: it depends on the last row
    ...     return dp.noise.discrete_laplace(3) + data[-1]
    >>> dp.audit.support(typed, [0, 1], [0, 1.0], epsilon=1, samples=2048).same
    False
    """
    claim = privacy.loss(epsilon, delta, None)
    setting = setting_of(mechanism, samples, confidence, workers, support=True)
    audit, shown = rounds_of(setting, x, x2, claim)
    best: dict[str, Any] = {}
    for event in sorted(shown, key=lambda event: event.p_value):
        if event.p_value <= 1 - setting.confidence:
            best.setdefault(event.event.statistic.words, event)
    return Support(not best, tuple(map(str, best.values())), audit.samples, audit.confidence)
