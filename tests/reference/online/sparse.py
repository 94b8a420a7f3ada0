"""The sparse vector technique by definition: whole transcripts, and the published variants. A
transcript is a tuple with False for a value that is below and True (or the number that is told) for
one that is above. Its probability is a sum over the threshold noise of products of tails, in
float64 on supports that leave out less than 1e-15."""

import math
from dataclasses import dataclass

import numpy as np

REACH = 400


def laplace(scale, reach=REACH):
    """The pmf of discrete Laplace noise on -reach .. reach; scale 0 is no noise."""
    k = np.arange(-reach, reach + 1)
    if not scale:
        return (k == 0).astype(float)
    weights = np.exp(-np.abs(k) / scale)
    return weights / weights.sum()


@dataclass(frozen=True)
class Variant:
    """How a version of the technique draws and what it tells."""

    threshold: float  # scale of rho
    query: float  # scale of nu
    positives: int | None  # None: no end
    fresh: bool = False  # a new rho after each positive
    tells: bool = False  # the noisy value of the comparison

    def distribution(self, values, threshold=0):
        """Probability of each transcript."""
        rho, nu = laplace(self.threshold), laplace(self.query)
        k = np.arange(-REACH, REACH + 1)
        tail = np.append(np.cumsum(nu[::-1])[::-1], 0.0)  # P(nu >= k - REACH)

        def above(q):
            """P(q + nu >= threshold + rho) for each rho."""
            return tail[np.clip(threshold + k - q + REACH, 0, len(k))]

        done, open_ = {}, {(): rho}
        for q in values:
            reached, following = above(q), {}
            for told, weight in open_.items():
                following[(*told, False)] = weight * (1 - reached)
                if self.tells:
                    for y, p in zip(k + q, nu, strict=True):
                        if p > 1e-12:
                            following[(*told, int(y))] = weight * p * (y >= threshold + k)
                else:
                    following[(*told, True)] = weight * reached
            open_ = {}
            for told, weight in following.items():
                hit = told[-1] is not False
                if hit and self.fresh:
                    weight = rho * weight.sum()
                if hit and sum(x is not False for x in told) == self.positives:
                    done[told] = float(weight.sum())
                else:
                    open_[told] = weight
        done.update((told, float(weight.sum())) for told, weight in open_.items())
        return done


def loss(one, other, least=1e-9):
    """The largest log-ratio between two distributions over transcripts that are not too rare."""
    worst = 0.0
    for told in one.keys() | other.keys():
        p, q = sorted((one.get(told, 0.0), other.get(told, 0.0)))
        if q > least:
            worst = max(worst, math.inf if p < 1e-14 else math.log(q / p))
    return worst


def published(epsilon, c):
    """The six variants of Lyu, Su and Li (2017), figure 1, for sensitivity 1: name to variant."""
    half = epsilon / 2
    return {"1, Lyu, Su and Li 2017": Variant(1 / half, 2 * c / half, c),
        "2, Dwork and Roth 2014": Variant(c / half, 2 * c / half, c, fresh=True),
        "3, Roth 2011": Variant(1 / half, c / half, c, tells=True),
        "4, Lee and Clifton 2014": Variant(4 / epsilon, 4 / (3 * epsilon), c),
        "5, Stoddard et al. 2014": Variant(1 / half, 0, None),
        "6, Chen et al. 2015": Variant(1 / half, 1 / half, None)}  # fmt: skip


#: Neighbors (values on one dataset and on the other) on which a broken variant is caught.
CAUGHT = {"3, Roth 2011": ([0] * 8 + [1], [1] * 8 + [0]),
    "4, Lee and Clifton 2014": ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]),
    "5, Stoddard et al. 2014": ([0, 1], [1, 0]),
    "6, Chen et al. 2015": ([0] * 4 + [1] * 4, [1] * 4 + [0] * 4)}  # fmt: skip


def judge(values, thresholds, rho, noise, positives, fresh=None):
    """The comparisons one after the other, with given noise. `fresh` draws a rho."""
    told = []
    for q, bar, nu in zip(values, thresholds, noise, strict=True):
        told.append(int(q) + int(nu) >= int(bar) + rho)
        if told[-1]:
            positives -= 1
            if not positives:
                break
            if fresh:
                rho = fresh()
    return told
