"""Tests of privacy claims of any library: lower bounds on the loss of a mechanism, and attacks.

`measure` calls a mechanism many times on two neighboring datasets, and counts events among the
answers. Exact confidence limits of their probabilities bound the loss from below. If this bound is
above the claimed loss, the claim is refuted, except with a small error probability. If the claim is
not refuted, nothing is proved.

`reconstruct` is an attack. An interface that answers many questions about the same people too
accurately reveals their data: with errors o(sqrt(n)), linear programming finds almost all of n bits
(Dinur and Nissim, PODS 2003). Under differential privacy no attack finds a larger expected fraction
than `recovery_bound`. So run the attack on an interface that has spent its budget. If it recovers
more than the bound, the interface has a fault. If it does not, nothing is proved, because a better
attack may exist.
"""

from .bounds import exact_epsilon, exact_rho, expected_recovery, recovery_bound
from .claimed import claims, measure_pairs
from .measured import Audit, Support, measure, measure_answers, support
from .once import one_run
from .pairs import Pair, neighbors
from .reconstruction import reconstruct
from .replayed import Replay, replay

__all__ = [
    "Audit", "Pair", "Replay", "Support", "claims", "exact_epsilon", "exact_rho",
    "expected_recovery", "measure", "measure_answers", "measure_pairs", "neighbors", "one_run",
    "reconstruct", "recovery_bound", "replay", "support",
]  # fmt: skip
