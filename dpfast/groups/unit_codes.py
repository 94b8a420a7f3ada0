"""Units in groups: codes of pairs of an id and a group, as rows are read.

A unit keeps the groups with the least hash of (id, group) under a fresh secret key
(`tables.bounding`). The groups are chosen after all rows are read, from the pairs that exist. So
the choice depends only on the unit's rows and on the key. `summaries.units` describes how much the
unit counts in each group.
"""

from __future__ import annotations

from contextlib import closing
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._kernels.groups import Codes
from .._kernels.tables import Key
from ..tables.bounding import Bounding
from ..tables.key_words import KeyWords
from .keys import Int32s

RowFlags: TypeAlias = NDArray[np.bool_]


class UnitCodes:
    """Codes of pairs of a unit and a group, for use by several threads.

    Parameters
    ----------
    key : Key
        Fresh and secret.
    """

    def __init__(self, key: Key) -> None:
        self._key, self._lock = key, Lock()
        self._words = KeyWords(key, "ids", is_id=True)
        # An id that is a number below 2**32 is its own code. Other ids get a code from `_ids`, and
        # a high word of 1 in their pairs.
        self._ids, self._pairs = Codes(key), Codes(key)
        self._low, self._high = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
        self._groups = [np.empty(0, np.int32)]
        self._chosen: Int32s | None = None

    def __len__(self) -> int:
        return len(self._pairs)

    def of(self, ids: Any, groups: Int32s) -> Int32s:
        """Return the code of each row's pair of id and group; -1 for a row without either."""
        words, codes = self._words.of(ids).only(groups >= 0), np.empty(len(groups), np.int32)
        low, high, is_short = words.low, None, words.low < 1 << 32
        assert words.present is not None
        if words.high is not None:
            is_short &= words.high == 0
        with self._lock:
            if not is_short.all():
                units, high = np.empty(len(groups), np.int32), (~is_short).astype(np.uint64)
                self._ids.add(words.low, words.high, words.present & ~is_short, units)
                low = np.where(is_short, low, units.view(np.uint32))
            pairs = low << np.uint64(32) | groups.view(np.uint32)
            first = self._pairs.add(pairs, high, words.present, codes)
            if len(first):
                self._groups.append(groups[first])
                self._low.append(words.low[first])
                none = np.zeros(len(first), np.uint64)
                self._high.append(none if words.high is None else words.high[first])
        return codes

    def groups(
        self, max_groups: int | None, names: Int32s | None, shown: RowFlags | None = None
    ) -> Int32s:
        """Return the group of each code, or -1 if the group is shown or its unit does not keep it.

        A unit keeps at most `max_groups` groups. With `names`, the name of a group is hashed in
        place of its code, as in `Bounding.kept_rows`. Releases that share the codes share the
        returned array, which is read-only.
        """
        if shown is not None:
            return self._kept(max_groups, names, shown)
        with self._lock:
            if self._chosen is None or len(self._chosen) < len(self):
                self._chosen = self._kept(max_groups, names)
                self._chosen.flags.writeable = False
            return self._chosen

    def owners(self) -> Int32s:
        """Return the unit of each code, as a number from 0 on."""
        low, units = np.concatenate(self._low), np.empty(len(self), np.int32)
        Codes(self._key).add(low, np.concatenate(self._high), None, units)
        return units

    def _kept(
        self, max_groups: int | None, names: Int32s | None, shown: RowFlags | None = None
    ) -> Int32s:
        groups = np.concatenate(self._groups)
        if shown is not None:
            groups[shown[groups]] = -1
        if max_groups is None:
            return groups
        low, high = np.concatenate(self._low), np.concatenate(self._high)
        with closing(Bounding(max_groups, None, self._key)) as bounding:
            bounding.add(low, high if high.any() else None, groups, 0)
            groups[~bounding.kept_rows(len(groups), names=names)] = -1
        return groups
