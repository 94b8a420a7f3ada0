"""Makes insecure_stream.json: `python -m tests.reference.vectors.make_insecure_stream`."""

import hashlib
import json
from itertools import islice
from pathlib import Path

from ..rng import insecure_key, stream

REFILLS = 3
SEEDS = (0, 1, 255, 256, 2**64, 3**400)


def vectors():
    made = []
    for seed in SEEDS:
        for thread in (0, 1):
            data = b"".join(islice(stream(insecure_key(seed, thread)), REFILLS))
            made.append({"seed": hex(seed), "thread": thread, "first": data[:32].hex(),
                "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()})  # fmt: skip
    return made


if __name__ == "__main__":
    Path(__file__).with_name("insecure_stream.json").write_text(
        json.dumps(vectors(), indent=1) + "\n", encoding="utf-8"
    )
