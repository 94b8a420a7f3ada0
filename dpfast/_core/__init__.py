"""What every room uses: argument checks, missing values, error bars, progress."""
