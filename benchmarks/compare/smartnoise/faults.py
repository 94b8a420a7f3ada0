"""SmartNoise SQL: what its odometer reports."""

import numpy as np
from snsql import Privacy
from snsql.sql.odometer import Odometer, OdometerHeterogeneous

NAME, DISTRIBUTION = "SmartNoise SQL", "smartnoise-sql"
COUNT, QUERIES, DELTA = 2_000, 20, 0.1


def delta_of_many(control):
    """Whether one of 20 answers shows the row, each with probability delta, as each may.

    The delta that `Odometer` reports is of the form d (1 - d) plus a half of that of one query, and
    falls if d is above a half. The control is what `OdometerHeterogeneous` reports.
    """
    odometer = (OdometerHeterogeneous if control else Odometer)(Privacy(epsilon=0.1, delta=DELTA))
    for _ in range(QUERIES):
        odometer.spend()
    epsilon, delta = odometer.spent
    rng = np.random.default_rng()

    def answers(row):
        return row * (rng.random((COUNT, QUERIES)) < DELTA).any(axis=1)

    return {"epsilon": float(epsilon), "delta": float(delta)}, answers(1), answers(0)
