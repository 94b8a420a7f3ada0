"""Helpers for all rooms: argument checks, types, missing values, roots, error bars, progress."""
