/* Adds the bins of at most BLOCK rows to their cells. All rows are searched together. */
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
    /* One step of all searches, then the next: so no search waits for its own loads. */
    for (uint32_t left = axis->near + 1; left > 1;) {
        const uint32_t half = left / 2;
        for (size_t i = 0; i < n; i++)
            bin[i] += half & (0 - (uint32_t)(edges[bin[i] + half] <= x[i]));
        left -= half;
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t inside = (x[i] >= lo) & (x[i] <= hi);
        place[i] = (place[i] + stride * bin[i]) | ((inside - 1) & DPF_BINS_OUTSIDE);
    }
    for (size_t i = 0; exact && i < n; i++)
        place[i] |= x[i] == edges[bin[i]] ? 0 : DPF_BINS_OUTSIDE;
}

/* Adds to ge[k] the number of rows that are at or above edge[k], for four edges. A NaN is not. */
static void DPF_NAME(bins_compare)(const double *x, size_t n, const double edge[4], uint64_t ge[4])
{
    size_t i = 0;
#if DPF_VECTOR
    typedef double vec __attribute__((vector_size(DPF_VECTOR)));
    typedef int64_t whole __attribute__((vector_size(DPF_VECTOR)));
    const vec e0 = edge[0] - (vec){0}, e1 = edge[1] - (vec){0};
    const vec e2 = edge[2] - (vec){0}, e3 = edge[3] - (vec){0};
    whole s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
    for (; i + DPF_VECTOR / 8 <= n; i += DPF_VECTOR / 8) {
        vec v;
        memcpy(&v, x + i, sizeof v);
        s0 -= (whole)(v >= e0);
        s1 -= (whole)(v >= e1);
        s2 -= (whole)(v >= e2);
        s3 -= (whole)(v >= e3);
    }
    for (size_t l = 0; l < DPF_VECTOR / 8; l++) {
        ge[0] += (uint64_t)s0[l];
        ge[1] += (uint64_t)s1[l];
        ge[2] += (uint64_t)s2[l];
        ge[3] += (uint64_t)s3[l];
    }
#endif
    for (; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            ge[k] += x[i] >= edge[k];
}

/* Writes x - lo for each integer x, or DPF_BINS_OUTSIDE if it is not in 0 .. most. */
#define DIRECT(bits)                                                                               \
    static void DPF_NAME(bins_direct_##bits)(const uint##bits##_t *restrict x, size_t n,           \
                                             uint64_t lo, uint32_t most, uint32_t *restrict place) \
    {                                                                                              \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint##bits##_t u = (uint##bits##_t)(x[i] - (uint##bits##_t)lo);                  \
            place[i] = u <= (uint##bits##_t)most ? (uint32_t)u : DPF_BINS_OUTSIDE;                 \
        }                                                                                          \
    }
DIRECT(8)
DIRECT(16)
DIRECT(32)
DIRECT(64)
#undef DIRECT

