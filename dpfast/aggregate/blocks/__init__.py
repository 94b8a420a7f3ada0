"""Rows in blocks: random labels of rows, statistics of blocks, and rows sorted by block.

Nothing here is private by itself, and nothing draws noise. A partition is a function of public
numbers and one secret key. The key is drawn once, so every pass, worker and chunk sees the same
blocks.

`partition` determines the block of a row, and which rows count. `tallies` compute statistics
without a sort. `layout` yields the rows block by block. For this it sorts an array
(`counting_sort`), a source of known length (`placed`), or runs of any source, if necessary in a
file (`external_sort`).
"""
