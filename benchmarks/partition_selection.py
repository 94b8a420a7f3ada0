"""The strategies of PipelineDP for private partitions, as formulas: how probable a key is shown.

A person has at most `groups` keys and comes or goes. Each function has the probabilities for
0 .. most people. (`google/differential-privacy`, cc/algorithms/partition-selection.h.)
"""

import math
from statistics import NormalDist

from dpfast.noise.additive import analytic

normal = NormalDist()


def adjusted(delta, groups):
    """The delta of each key."""
    return -math.expm1(math.log1p(-delta) / groups)


def truncated_geometric(epsilon, delta, groups, most):
    """The optimal rule for one key, with an equal part of the loss for each."""
    e, d, p = epsilon / groups, adjusted(delta, groups), [0.0]
    for _ in range(most):
        last = p[-1]
        p.append(min(math.exp(e) * last + d, 1 - math.exp(-e) * (1 - last - d), 1.0))
    return p


def laplace(epsilon, delta, groups, most):
    """Laplace noise of scale groups / epsilon, shown from a threshold on."""
    scale = groups / epsilon
    threshold = 1 - scale * math.log(2 * adjusted(delta, groups))
    z = [(n - threshold) / scale for n in range(1, most + 1)]
    return [0.0, *(math.exp(x) / 2 if x < 0 else 1 - math.exp(-x) / 2 for x in z)]


def gaussian(epsilon, delta, groups, most):
    """Gaussian noise for half of delta, shown from a threshold on for the other half."""
    sigma = analytic(epsilon, delta / 2) * math.sqrt(groups)
    start = normal.inv_cdf(adjusted(delta / 2, groups))
    return [0.0, *(normal.cdf((n - 1) / sigma + start) for n in range(1, most + 1))]


def pre_threshold(epsilon, delta, groups, most, least=2):
    """Keys of fewer than `least` people are not shown; `least` - 1 people are taken off others."""
    rest = truncated_geometric(epsilon, delta, groups, most)
    return ([0.0] * (least - 1) + rest)[: most + 1]


def gaussian_weights(epsilon, delta, groups, most, keys, part=0.4):
    """Gaussian noise on weights 1 / sqrt(k) of people with k keys. Here all have `keys` keys."""
    sigma = analytic(epsilon, delta * (1 - part))
    threshold = max(
        1 / math.sqrt(k) - sigma * normal.inv_cdf(adjusted(delta * part, k))
        for k in range(1, groups + 1)
    )
    weight = 1 / math.sqrt(keys)
    return [0.0, *(normal.cdf((n * weight - threshold) / sigma) for n in range(1, most + 1))]


STRATEGIES = truncated_geometric, laplace, gaussian, pre_threshold
