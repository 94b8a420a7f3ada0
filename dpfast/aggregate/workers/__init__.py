"""A user's function, called on one block after another: in threads, or in processes of its own.

`calls` is one call and what counts as an answer; `threads` runs it in this process; `processes`
hands ranges of blocks to workers, which run `program`; `shared` is the memory that both sides see.
Nothing here knows of privacy, and no worker is given a key, a generator or a ledger: it gets the
function, the rows of the blocks, and where these begin.
"""
