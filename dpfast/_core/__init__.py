"""What every room uses: argument checks, types, missing values, roots, error bars, progress."""
