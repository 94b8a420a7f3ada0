"""Scores by definition, a row at a time."""

import numpy as np

import dpfast as dp


def score(made, X, y, clipped=True):
    """The score of a fitted learner; with numbers within their bounds, as a private one is."""
    if isinstance(made, dp.learn.KMeans):
        total = 0.0
        for row in X:
            row = np.clip(row, *made.bounds)
            total += min(sum((row - center) ** 2) for center in made.cluster_centers_)
        return -total
    guesses = made.predict(X)
    if hasattr(made, "classes_"):
        return sum(a == b for a, b in zip(guesses, y, strict=True)) / len(y)
    targets = np.asarray(y, float)
    if clipped:
        guesses, targets = np.clip(guesses, *made.y_bounds), np.clip(targets, *made.y_bounds)
    mean = sum(targets) / len(targets)
    left = sum((a - b) ** 2 for a, b in zip(guesses, targets, strict=True))
    return 1 - left / sum((b - mean) ** 2 for b in targets)
