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

#: The number of answers on each dataset in the first round. The factor by which rounds grow. The
#: number of events of a round. How many answers are kept for the choice of events.
FIRST, LONGER, EVENTS, KEPT = 128, 4, 4, 1 << 20
#: The number of events of a round in an audit of supports: one event for each statistic.
SUPPORT_EVENTS = 40
#: The default number of answers on both datasets together: for a mechanism that returns one answer
#: per call, and for a mechanism that returns many.
ONE_BY_ONE, MANY = 100_000, 2_000_000


@dataclass(frozen=True)
class Audit:
    """The result of an audit: lower bounds on a mechanism's loss, and whether they refute a claim.

    Attributes
    ----------
    claim : Loss
        The loss that was claimed.
    epsilon : float
        A lower bound on the true epsilon at `delta`. It is too large with probability at most ``1 -
        confidence``.
    delta : float
        The delta of the claim, or 0.
    rho : float
        A lower bound on the true rho, with the same confidence.
    p_value : float
        If the claim holds, answers that contradict it so clearly have at most this probability.
    refuted : bool
        Whether the claim is refuted: `p_value` is at most ``1 - confidence``.
    witness : str
        The event that shows the loss, and how often it occurred.
    samples : int
        The number of answers on both datasets together.
    confidence : float
        The confidence of each bound.
    rounds : tuple
        For each round, a pair: the number of answers so far, and the lower bound on epsilon at this
        point (on rho, if a rho was claimed).
    refutable : float or None
        The power of the audit. Take an event that is impossible on one dataset. In the last round
        it refutes the claim if its frequency on the other dataset is at least this number. None if
        no event can refute the claim.
    largest : float
        The largest epsilon, at the delta of the claim, that the number of answers in the last round
        can show. If a rho was claimed, the largest rho.

    Examples
    --------
    An exact count is not private. The audit refutes the claim by the answer 2:

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
        """Return as text which events could refute the claim in this audit."""
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
            The attributes by name, without `rounds`. The name of `refutable` is "smallest".
        """
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "rounds"}
        # Reports have always had this name.
        values["smallest"] = values.pop("refutable")
        return values | {"claim": repr(self.claim)}

    def plot(self) -> Figure:
        """Draw the lower bound on the loss against the number of answers, and the claim as a line.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.
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
    """Test a privacy claim of any mechanism by its answers on two neighboring datasets.

    The mechanism may be any function of any library. It is called many times on both datasets. The
    frequencies of its answers bound its loss from below. If this bound is above the claim, the
    claim is refuted. A claim that is not refuted is not proved: other neighbors, or more answers,
    may refute it.

    NOT PRIVATE: use data that are made up for the test.

    Parameters
    ----------
    mechanism : callable
        ``mechanism(data)`` returns an answer: a number, an array, text, or a tuple or mapping of
        these. An error counts as an answer too. Printed text and warnings are part of an answer. If
        the function has an argument `size`, ``mechanism(data, size)`` returns an array of `size`
        independent answers, which is faster.
    x, x2 : object
        Two neighboring datasets. Each is passed to the mechanism unchanged.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The claim: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    samples : int, optional
        The largest number of answers on both datasets together, at least 1024. By default 100,000,
        or 2,000,000 if the mechanism has a `size`. The audit ends earlier if the claim is refuted
        earlier.
    confidence : float, default 1 - 1e-6
        The confidence of a refutation, and of each bound.
    workers : int, default 1
        How many threads may call the mechanism at the same time, if it has a `size`. The random
        generator of the mechanism has to allow this.

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
    support : Find answers that only one of two neighbors can have.
    neighbors : Pairs of datasets on which mechanisms often fail.

    Notes
    -----
    The audit runs in rounds, and each round has four times as many answers as the round before. In
    each round, four events are chosen from the answers of earlier rounds, and counted in new
    answers. Exact limits of both probabilities (Clopper and Pearson, 1934) then bound the loss. The
    error probability is shared equally by all events of all rounds, so the audit may stop after any
    round. (Lokna et al., CCS 2023, choose events in a similar way.)

    An event is a tail, a single value, or a union of bins with a high likelihood ratio. It may
    concern the answer, its kind or its lowest bits. For vectors it may concern sums, extremes and
    Fisher's discriminant.

    Cost: the calls of the mechanism, and about 10 ns for each answer and simple event. Memory: some
    chunks of 2**18 answers.

    Examples
    --------
    A sum with a quarter of the noise that its claim needs is refuted:

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
    """Test a privacy claim by answers that a mechanism has given on two neighboring datasets.

    Use this instead of `measure` if the answers come from another process, language or machine.

    NOT PRIVATE: use answers on data that are made up for the test.

    Parameters
    ----------
    answers, answers2 : array_like, shape (n,) or (n, ...)
        Independent answers on each of two neighbors, one answer in each row, in the order in which
        they were drawn. Both arrays have the same length, at least 256.
    epsilon, delta, rho : float, Fraction or Decimal, optional
        The claim: `epsilon` alone, `epsilon` with `delta`, or `rho` alone.
    confidence : float, default 1 - 1e-6
        The confidence of a refutation, and of each bound.

    Returns
    -------
    Audit
        The bounds, the p-value, the verdict and a witness.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.
    MissingExtraError
        If SciPy is missing.

    See Also
    --------
    measure : Call the mechanism, until the claim is refuted or all answers are used.

    Notes
    -----
    The events are the same as in `measure`. They are chosen from the first half of the answers and
    counted in the second half, so the order of the answers must not depend on their values.

    Examples
    --------
    Counts of 3 and 2 rows with half of the noise that the claim needs. The claim is refuted:

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
        checks.fail(name, rule, f"an array of shape {array.shape}")
    return array


@dataclass(frozen=True)
class Setting:
    """The mechanism to audit, the number of answers, and the confidence."""

    answers: Answers
    samples: int
    confidence: float
    support: bool = False
    #: Whether the answers exist already. Then all are used, and the first half chooses the events.
    there: bool = False

    @property
    def sizes(self) -> list[int]:
        """The number of answers on either dataset in each round of the audit."""
        if self.there:
            return [self.samples // 4, self.samples // 2 - self.samples // 4]
        left, sizes = self.samples // 2, list[int]()
        while left:
            size = FIRST * LONGER ** len(sizes)
            # This makes at least two rounds, of which the last is the longest.
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
        """Return the loss that an event shows if it happens k times on x and m times on x2."""
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
    """Run the rounds of an audit until the claim is refuted or all rounds are over.

    Return the audit, and the loss that each event shows. The events of all rounds share the error
    probability.
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
        rule = "a function that can be called with x and x2"
        checks.fail("mechanism", rule, f"{kinds[0].removeprefix('the error ')} from each call")


@dataclass(frozen=True)
class Support:
    """The result of `support`: kinds of answers that only one of two neighbors gives.

    Attributes
    ----------
    same : bool
        True if no difference was found.
    differences : tuple of str
        A sentence for each statistic of the answers that distinguishes the neighbors.
    samples : int
        The number of answers on both datasets together.
    confidence : float
        The probability that no reported difference is due to chance.

    Examples
    --------
    A sum without noise: the answer 1 comes from one dataset only, and the answer 2 from the other:

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
    """Find answers that only one of two neighboring datasets can have.

    Such an answer reveals which of the two datasets was used. The audit looks at features of an
    answer that noise does not hide if it is added carelessly: its kind (type, shape, keys, or
    error), NaN, infinities, minus zero, single values, and the last bits of a float. If noise is
    drawn on a public grid, these features do not depend on the data. Mironov (CCS 2012) attacks
    noise that is drawn without such a grid.

    NOT PRIVATE: use data that are made up for the test.

    Parameters
    ----------
    mechanism, x, x2, samples, confidence, workers : optional
        As in `measure`.
    epsilon, delta : float, Fraction or Decimal, default 1 and 0
        The claimed loss. A difference is reported if this loss does not allow it.

    Returns
    -------
    Support
        The differences, as sentences, the most significant first.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        If an argument breaks its rule.
    MissingExtraError
        If SciPy is missing.

    Notes
    -----
    Cost: mostly the calls of the mechanism. All `samples` answers are drawn. Limits of
    probabilities are exact, as in `measure`. Up to 40 events of each round share the error
    probability equally.

    Examples
    --------
    A noisy number whose type, int or float, depends on the last row:

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
