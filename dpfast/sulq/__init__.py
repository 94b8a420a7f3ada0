"""SuLQ: noisy sums of functions of a row, and algorithms that use only such sums.

Many algorithms need only sums over the rows, one round after another, and the function that is
summed in a round may depend on the answers of earlier rounds. `NoisySums` answers a fixed number of
such rounds with noise. It pays for all of them when it is created, and refuses any further round.
`StatisticalQueryOracle` answers means within a stated tolerance instead. Learners that use noisy
sums are in `dpfast.learn`.

Blum, Dwork, McSherry and Nissim, "Practical privacy: the SuLQ framework", PODS 2005.
"""

from typing import TYPE_CHECKING, NoReturn

from .conditions import Attribute, Condition
from .conjunction import Conjunction, conjunction_needs, learn_conjunction
from .halfspace import Halfspace, halfspace_needs, learn_halfspace
from .implication_strength import Implication, implication_strength
from .implication_test import ImplicationTest, implication_test
from .noisy_sums import NoisySums
from .oracle import ExactOracle, StatisticalQueryOracle
from .oracle_cost import oracle_cost
from .remote_sums import RemoteSums, serve
from .row_sets import RowSets
from .terms import Term

__all__ = [
    "Attribute",
    "Condition",
    "Conjunction",
    "ExactOracle",
    "Halfspace",
    "Implication",
    "ImplicationTest",
    "NoisySums",
    "RemoteSums",
    "RowSets",
    "StatisticalQueryOracle",
    "Term",
    "conjunction_needs",
    "halfspace_needs",
    "implication_strength",
    "implication_test",
    "learn_conjunction",
    "learn_halfspace",
    "oracle_cost",
    "serve",
]

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> NoReturn:
        where = f"a learner is in dp.learn: write dp.learn.{name}"
        raise AttributeError(f"module 'dpfast.sulq' has no attribute {name!r}; {where}")
