"""Measurements: what a statistic releases, for which loss, with which noise."""
