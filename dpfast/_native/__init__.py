"""Compiled kernels: typed buffers in, the caller's buffer filled. No defaults, no messages."""
