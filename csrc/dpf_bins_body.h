/* Places of at most BLOCK rows, for one instruction set. The including file defines DPF_SUFFIX. */
static void DPF_NAME(bins_block)(const double *x, size_t n, const dpf_bins_axis *axis,
                                 uint32_t stride, uint32_t *place)
{
    const double lo = axis->lo, hi = axis->hi, scale = axis->scale;
    const double *edges = axis->edges;
    const uint32_t *first = axis->first;
    const int exact = axis->exact;
    uint32_t bin[BLOCK];
    for (size_t i = 0; i < n; i++) {
        const double v = ((x[i] >= lo) & (x[i] <= hi)) ? x[i] : lo;
        bin[i] = first[(int32_t)((v - lo) * scale)];
    }
    /* One step of every row's search after the other, so that none waits for its own loads. */
    for (uint32_t left = axis->near + 1; left > 1;) {
        const uint32_t half = left / 2;
        for (size_t i = 0; i < n; i++)
            bin[i] += half & (0 - (uint32_t)(edges[bin[i] + half] <= x[i]));
        left -= half;
    }
    for (size_t i = 0; i < n; i++) {
        const int inside = (x[i] >= lo) & (x[i] <= hi) & (!exact | (x[i] == edges[bin[i]]));
        place[i] = (place[i] + stride * bin[i]) | (inside ? 0 : DPF_BINS_OUTSIDE);
    }
}

#undef DPF_SUFFIX
