"""An engine that does what engines do on bad days: it repeats, loses and reorders tasks. Every task
and every summary is pickled. Each task runs twice, and either result may be used; each merge runs
twice on the same arguments; a summary may be handed in again beside the others."""

import pickle
import random

import cloudpickle

from dpfast import Budget
from dpfast._kernels.rng import BitStream
from dpfast._kernels.tables import Key
from dpfast.rng import Generator
from dpfast.tables.engine import Engine, Moved, destinations_of, expect_types, types_of
from dpfast.tables.in_memory import local_form

#: What must not travel.
SECRETS = (Budget, Generator, BitStream, Key, Engine)


class Walker(cloudpickle.Pickler):
    """A pickler that finds what must not travel, whatever way it is reached."""

    def reducer_override(self, obj):
        if isinstance(obj, SECRETS):
            raise AssertionError(f"{type(obj).__name__} would travel")
        return super().reducer_override(obj)


def sent(value):
    """What arrives of a value that is sent, and how many bytes it takes."""
    import io

    file = io.BytesIO()
    Walker(file).dump(value)
    return pickle.loads(file.getvalue()), len(file.getvalue())


class HostileEngine(Engine):
    """Partitions in memory. `lies` are other partitions, shown from the second pass on."""

    name = "the engine"

    def __init__(self, partitions, seed=0, lies=None, lengths=None):
        self.partitions, self.lies, self.lengths = partitions, lies, lengths
        self.like = local_form(partitions[0][:0], "data", "data")
        self.random = random.Random(seed)
        self.passes = self.largest_task = self.largest_summary = 0

    def run(self, task, columns):
        rng, parts = self.random, self.partitions
        if self.passes and self.lies is not None:
            parts = self.lies
        self.passes += 1
        task, size = sent(task)
        self.largest_task = max(self.largest_task, size)
        level = []
        for number in rng.sample(range(len(parts)), len(parts)):
            part = parts[number] if columns is None else parts[number][list(columns)]
            level.append(rng.choice([task(number, part), task(number, part)]))
            self.largest_summary = max(self.largest_summary, sent(level[-1])[1])
        while len(level) > 1:
            rng.shuffle(level)
            some, level = level[:3], level[3:]
            if rng.random() < 0.3:
                some.append(rng.choice(some))  # came twice
            first = task.join(some)
            again = task.join(some)
            level.append(rng.choice([sent(first)[0], again]))
        return level[0]

    def exchange(self, task, columns):
        import pandas as pd

        count = len(self.partitions)
        out = [[] for _ in range(count)]
        for number, part in enumerate(self.partitions):
            kept = part if columns is None else part[list(columns)]
            again = [sent(task)[0](number, kept).summary for _ in range(2)]
            for piece in self.random.choice(again):
                out[piece.destination % count].append(piece)
        for own in out:
            self.random.shuffle(own)
        whole = {"destination": "int64", "number": "int64"}
        tables = [pd.DataFrame(own, columns=Moved._fields).astype(whole) for own in out]
        if self.lies == "lost":
            tables[0] = tables[0][:-1]
        elif self.lies is not None:  # some rows come twice
            tables[0] = pd.concat([tables[0], tables[0]])
        return HostileEngine(tables, self.random.random())

    def together(self, column, columns):
        count = len(self.partitions)
        out = [[] for _ in range(count)]
        for part in self.partitions:
            expect_types(part, types_of(self.like, columns))
            where, present = destinations_of(part[column], count)
            for i in range(count):
                out[i].append(part[list(columns)][present & (where == i)])
        import pandas as pd

        return HostileEngine([pd.concat(own) for own in out], self.random.random())
