/* Writes the numbers of a block of rows, clamped to the limits, as integer multiples of the grid
 * around the middle. Returns whether there is a NaN, which becomes the lower limit. */
static int DPF_NAME(pairs_place)(const double *restrict x, size_t width,
                                 const double *restrict limits, double *restrict z)
{
    const size_t step = SIDE(width) * width;
    const double *lo = limits, *hi = lo + step, *middle = hi + step, *scale = middle + step;
    int64_t nan = 0;
    for (size_t at = 0; at < B * width; at += step)
        for (size_t i = 0; i < step; i++) {
            double v = x[at + i];
            nan |= v != v;
            v = v > lo[i] ? v : lo[i];
            v = v < hi[i] ? v : hi[i];
            z[at + i] = ((v - middle[i]) * scale[i] + MAGIC) - MAGIC;
        }
    return nan != 0;
}

/* Adds the labels of a block, and their squares, each to eight partial sums. */
static void DPF_NAME(pairs_labels)(const double *restrict t, double *restrict sum,
                                   double *restrict square)
{
    for (size_t r = 0; r < B; r += 8)
        for (size_t l = 0; l < 8; l++) {
            sum[l] += t[r + l];
            square[l] += t[r + l] * t[r + l];
        }
}
