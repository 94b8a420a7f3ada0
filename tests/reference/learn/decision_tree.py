"""Decision trees and naive Bayes by their definitions: one row after the other, exact numbers."""

import math
from fractions import Fraction


def coded(row, values):
    """The place of each number among the values of its column, or after them."""
    return [own.index(x) if x in own else len(own) for x, own in zip(row, values, strict=True)]


def walked(codes, nodes, steps):
    """The node of a row, so many steps from the root; nodes are (split, child, last)."""
    at = 0
    for _ in range(steps):
        split, child, last = nodes[at]
        at = child + min(codes[split], last)
    return at


def crossed(rows, keys, values, count):
    """For each attribute how many rows have each value and key; none of a kind comes last."""
    tables = [[[0] * (count + 1) for _ in range(v + 1)] for v in values]
    for codes, key in zip(rows, keys, strict=True):
        for table, code, v in zip(tables, codes, values, strict=True):
            table[min(code, v)][min(key, count)] += 1
    return tables


def gains(criterion, counts):
    """What an attribute is worth, from counts[v][c]: a fraction, or for entropy a float."""
    found = Fraction(0)
    for own in counts:
        n = sum(own)
        if not n:
            continue
        if criterion == "max":
            found += max(own)
        elif criterion == "gini":
            found -= n - Fraction(sum(x * x for x in own), n)
        else:
            found -= Fraction(sum(x * math.log2(n / x) for x in own if x))
    return found


def grown(rows, labels, values, classes, depth, criterion="gini", used=()):
    """ID3 without noise: (counts of classes, attribute, children), attribute None for a leaf."""
    counts = [labels.count(c) for c in range(classes)]
    left = [a for a in range(len(values)) if a not in used]
    if not depth or not left:
        return counts, None, []

    def table(a):
        found = [[0] * classes for _ in range(values[a] + 1)]
        for row, label in zip(rows, labels, strict=True):
            found[row[a]][label] += 1
        return found

    best = max(left, key=lambda a: gains(criterion, table(a)))
    children = []
    for v in range(values[best] + 1):
        own = [i for i, row in enumerate(rows) if row[best] == v]
        steps = depth - 1 if v < values[best] else 0
        children.append(
            grown([rows[i] for i in own], [labels[i] for i in own], values, classes, steps,
                  criterion, (*used, best))
        )  # fmt: skip
    return counts, best, children


def spreads(rows, labels, c):
    """Mean and variance of each column among the rows of a class."""
    own = [
        [Fraction(x) for x in row] for row, label in zip(rows, labels, strict=True) if label == c
    ]
    found = []
    for column in zip(*own, strict=True):
        mean = sum(column) / len(column)
        found.append((float(mean), float(sum(x * x for x in column) / len(column) - mean**2)))
    return found
