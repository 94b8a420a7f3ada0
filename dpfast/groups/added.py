"""Sums by group of rows that are added up where they are, in a database.

Each statistic says which integers a row adds. The database adds them up by key, bounds units, and
tells the keys with their sums, which are then what sums of rows in memory are. Keys are words here
as anywhere: what the database calls two keys may be one, and not the other way round.
"""

from __future__ import annotations

import numpy as np

from .._kernels.rng import BitStream
from ..errors import DataError
from ..tables.base import Feature, Units
from ..tables.batches import Batch
from ..tables.key_words import secret
from ..tables.sql.store import SqlRows
from .keys import Coder, PublicKeys
from .of_column import DatabaseSums
from .partial import Partial, Summable


def added(table: Summable, rows: SqlRows, stream: BitStream) -> tuple[Coder, Partial]:
    """Return the sums of all rows that count, and the codes of groups."""
    coder, units, persons = table.keys.coder(secret(stream)), None, table.persons
    if persons is not None:  # as many bits as a table in memory takes, so that noise is the same
        most = persons.max_groups
        if isinstance(table.keys, PublicKeys) and most is not None and coder.groups <= most:
            most = None  # all groups count that are told
        units = Units(persons.column, most, bytes(stream.take(32)).hex())
    integers = {name: statistic.integers(rows) for name, statistic in table.counted.items()}
    alone = [name for name, one in integers.items() if one.bins is None]
    statements = list(filter(None, [alone, *([name] for name in integers if name not in alone)]))
    # How many rows the groups have, which is the same if nothing is drawn.
    is_compared = units is None and len(statements) > 1
    answers, counts = [], []
    for names in statements:
        some = [integers[name] for name in names]
        features = [feature for one in some for feature in one.features]
        features += [Feature(one.missing, 0, 1) for one in some if one.missing is not None]
        if is_compared:
            features.append(Feature(rows.present(), 0, 1))
        groups = rows.groups(table.keys.listed, features, units, some[0].bins)
        codes = coder.codes(Batch(0, len(groups.sums[0]), groups.keys))
        counts.append((codes + 1, groups.sums[-1]))
        if groups.bins is not None:
            codes = np.where(groups.bins < 0, -1, codes)
        answers.append((names, codes, groups.bins, iter(groups.sums)))
    if is_compared:
        sizes = [np.bincount(codes, n.astype(float), coder.groups + 1)[1:] for codes, n in counts]
        if np.ptp(sizes, axis=0).any():
            raise DataError("the rows must be the same whenever a database is asked, and are not")
    rooms, missing = {}, dict.fromkeys(integers, 0)
    for names, codes, bins, sums in answers:
        for name in names:
            each = [next(sums) for _ in integers[name].features]
            gathered = DatabaseSums(coder.groups, codes, each, bins)
            rooms[name] = table.counted[name].gathered(gathered)
        for name in names:
            if integers[name].missing is not None:
                missing[name] = sum(next(sums)[codes >= 0])
    return coder, Partial(coder.groups, None, rooms, missing)
