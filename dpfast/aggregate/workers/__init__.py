"""Calls of a user's function on one block after another, in threads or in worker processes.

`calls` makes one call, and defines what counts as an answer. `threads` makes calls in this process.
`pool` gives ranges of blocks to processes (`worker_process`), which run `worker_main`. A `Board` is
memory that both sides share. Nothing here deals with privacy. A worker gets the function, the rows
of the blocks and the offsets of the blocks. It never gets a key, a generator or a ledger.
"""
