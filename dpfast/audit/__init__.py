"""Tests of privacy claims of any library: lower bounds on a loss, and attacks.

`measure` calls a mechanism on two neighbors, and bounds its loss from below by exact limits of the
probabilities of events. A refutation is a proof, up to its error probability. If nothing was
found, nothing is proved.

An interface that answers many questions about the same people too accurately reveals their data.
With errors o(sqrt(n)), linear programming finds almost all of n bits (Dinur and Nissim, PODS 2003).
Under differential privacy no attack can find more than `recovery_bound`. So an attack tests an
interface that has spent its budget. If it recovers more than the bound, the interface has a fault.
If it does not, nothing is proved, because there may be a better attack.
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
