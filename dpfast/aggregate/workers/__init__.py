"""Calls of a user's function on one block after another, in threads or in worker processes.

`calls` makes one call and says what counts as an answer. `threads` makes calls in this process.
`pool` hands ranges of blocks to processes (`worker_process`), which run `worker_main`; a `Board`
is what both sides see. Nothing here knows of privacy, and no worker
is given a key, a generator or a ledger: it gets the function, the rows of the blocks, and where
these begin.
"""
