"""Helpers for the whole package: argument checks, types, missing values, roots, error bars."""
