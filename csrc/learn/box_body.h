/* Writes n rows as integers, and returns how many of their numbers are NaN. */
static size_t DPF_NAME(box)(const double *restrict x, size_t n, const dpf_box_limits *limits,
                            double *restrict out)
{
    const double *lo = limits->lo, *hi = limits->hi, *middle = limits->middle;
    const double scale = limits->scale;
    int64_t nan = 0;
    for (size_t i = 0; i < n; i++) {
        double v = x[i] * scale;
        nan += v != v;
        v = v > lo[i] ? v : lo[i];
        v = v < hi[i] ? v : hi[i];
        out[i] = ((v + MAGIC) - MAGIC) - middle[i];
    }
    return (size_t)nan;
}
