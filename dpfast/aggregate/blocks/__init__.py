"""Rows in blocks: random labels of rows, statistics of blocks, and rows sorted by block.

Nothing here is private or draws noise. A partition is a function of public numbers and one secret
key that is drawn once, so that every pass, worker and chunk sees the same blocks.

`partition` decides which block a row is in, and which rows count. `tallies` need no sort. `layout`
yields the rows block by block; it sorts an array (`counting_sort`), a source of known length
(`placed`), or runs of any source, with a file if need be (`external_sort`).
"""
