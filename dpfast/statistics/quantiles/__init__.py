"""Private medians and quantiles, by smooth sensitivity and by the exponential mechanism."""
