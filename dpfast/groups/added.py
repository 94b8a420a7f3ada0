"""Sums by group that a database adds up, without moving its rows.

Each statistic defines the integers that a row adds. The database bounds the contribution of each
unit, and sums the integers by key. It returns the keys with their sums, which are then used like
sums of rows in memory. Keys are converted to words as for other data (`tables.key_words`). So two
keys of the database may be one key here, but never the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .._kernels.rng import BitStream
from ..summaries.counted import refuse_change
from ..tables.base import Feature, Near, Units
from ..tables.batches import Batch
from ..tables.key_words import secret
from ..tables.sql.store import SqlRows
from .keys import Coder, PublicKeys
from .of_column import DatabaseSums
from .partial import Partial, Summable


def added(table: Summable, rows: SqlRows, stream: BitStream) -> tuple[Coder, Partial]:
    """Return the coder of groups, and the sums by group of all rows that count, from a database."""
    coder, units, persons = table.keys.coder(secret(stream)), None, table.persons
    # Takes as many random bits as a table in memory, so that the noise is the same.
    if persons is not None:
        most = persons.max_groups
        if isinstance(table.keys, PublicKeys) and most is not None and coder.groups <= most:
            most = None  # nothing to bound: no person can be in more groups
        units = Units(persons.column, most, bytes(stream.take(32)).hex())
    every, of_units = table.counted.items(), (persons and persons.column, table.keys.listed)
    rooms = {name: stat.of_units(rows, *of_units) for name, stat in every if stat.by_unit}
    integers = {name: stat.integers(rows) for name, stat in every if not stat.by_unit}
    alone = [name for name, terms in integers.items() if terms.bins is None and not terms.near]
    statements = list(filter(None, [alone, *([name] for name in integers if name not in alone)]))
    # If all rows of a unit count, the statements must agree on the number of rows of each group.
    is_compared = units is None and len(statements) > 1

    def ask(features: Sequence[Feature], bins: Any, near: Sequence[Near]) -> DatabaseSums:
        groups = rows.groups(table.keys.listed, features, units, bins, near)
        codes = coder.codes(Batch(0, len(groups.sums[0]), groups.keys))
        again = partial(ask, features, bins)
        return DatabaseSums(coder.groups, codes, groups.sums, groups.bins, again)

    answers, counts = [], []
    for names in statements:
        some = [integers[name] for name in names]
        bins, near = some[0].bins, some[0].near
        features = [feature for terms in some for feature in terms.features]
        features += [Feature(terms.missing, 0, 1) for terms in some if terms.missing is not None]
        if is_compared and not near:
            features.append(Feature(rows.present(), 1))
        answer = ask(features, bins, near)
        codes, sizes = answer.codes, answer.sums[-1]
        if near:  # answers with `near` repeat the size of a group for each of its numbers
            codes, first = np.unique(codes, return_index=True)
            sizes = sizes[first]
        counts.append((codes + 1, sizes))
        answers.append((names, answer))
    if is_compared:
        totals = [np.bincount(codes, n.astype(float), coder.groups + 1)[1:] for codes, n in counts]
        if np.ptp(totals, axis=0).any():
            refuse_change()
    missing = dict.fromkeys(integers, 0)
    for names, answer in answers:
        answer, sums = answer._replace(groups=coder.groups), iter(answer.sums)
        if answer.bins is not None:
            is_missing = answer.bins < 0
            if integers[names[0]].near:
                missing[names[0]] = answer.sums[0][is_missing & (answer.codes >= 0)].sum()
            answer = answer._replace(codes=np.where(is_missing, -1, answer.codes))
        for name in names:
            terms = integers[name]
            term_sums = answer.sums if terms.near else [next(sums) for _ in terms.features]
            rooms[name] = table.counted[name].gathered(answer._replace(sums=term_sums))
        for name in names:
            if integers[name].missing is not None:
                missing[name] = sum(next(sums)[answer.codes >= 0])
    return coder, Partial(coder.groups, None, rooms, missing)
