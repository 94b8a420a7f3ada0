/* Places of at most BLOCK rows, and other loops, for one instruction set. The including file defines
 * DPF_SUFFIX. */
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

/* ge[k] += how many rows are at or above edge k, and *above those above hi. NaN are neither. */
static void DPF_NAME(bins_compare)(const double *restrict x, size_t n, const dpf_bins_axis *axis,
                                   uint64_t *restrict ge, uint64_t *above)
{
    uint64_t more = 0;
    for (uint32_t k = 0; k < axis->bins; k++) {
        const double edge = axis->edges[k];
        uint64_t sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += x[i] >= edge;
        ge[k] += sum;
    }
    for (size_t i = 0; i < n; i++)
        more += x[i] > axis->hi;
    *above += more;
}

/* Integers as places: x - lo, or DPF_BINS_OUTSIDE beyond `most` above it. */
#define DIRECT(bits)                                                                                \
    static void DPF_NAME(bins_direct_##bits)(const uint##bits##_t *restrict x, size_t n,            \
                                             uint64_t lo, uint32_t most, uint32_t *restrict place)  \
    {                                                                                               \
        for (size_t i = 0; i < n; i++) {                                                            \
            const uint##bits##_t u = (uint##bits##_t)(x[i] - (uint##bits##_t)lo);                   \
            place[i] = u <= (uint##bits##_t)most ? (uint32_t)u : DPF_BINS_OUTSIDE;                  \
        }                                                                                           \
    }
DIRECT(8)
DIRECT(16)
DIRECT(32)
DIRECT(64)
#undef DIRECT

#undef DPF_SUFFIX
