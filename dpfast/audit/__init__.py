"""Attacks on interfaces that answer questions about secret bits, and what privacy leaves of them.

An interface that answers many questions about the same people too well gives their data away:
with errors o(sqrt(n)), linear programming finds almost all of n bits (Dinur and Nissim, PODS 2003).
Under differential privacy no attack can, and `recovery_bound` says how many at most. So an attack
is a test: what it recovers from an interface at its full budget stays under the bound. One that
stays there proves nothing, for there may be a better attack; one that does not has found a fault.
"""

from .bounds import expected_recovery, recovery_bound
from .reconstruction import reconstruct

__all__ = ["expected_recovery", "reconstruct", "recovery_bound"]
