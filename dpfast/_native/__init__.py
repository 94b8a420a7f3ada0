"""Compiled kernels: typed contiguous buffers in, the caller's buffer filled. No defaults, no messages."""
