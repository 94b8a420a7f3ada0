/* Writes the cells of m values, and returns whether any value is NaN. */
static int DPF_NAME(groups_cells)(const double *x, size_t m, const dpf_quantise_cells *c, uint64_t *u)
{
    const double lo = c->lo, hi = c->hi, scale = c->scale;
    const uint64_t base = MAGIC_BITS + (uint64_t)c->first;
    uint64_t odd = 0;
    for (size_t j = 0; j < m; j++) {
        uint64_t bits;
        double v = x[j];
        odd |= (uint64_t)(v != v);
        v = v > lo ? v : lo;
        v = v < hi ? v : hi;
        v = v * scale + MAGIC;
        memcpy(&bits, &v, sizeof bits);
        u[j] = bits - base;
    }
    return odd != 0;
}
