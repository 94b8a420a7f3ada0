/* Sums of products for one instruction set. The including file defines DPF_SUFFIX, which ends the
 * names, and DPF_VECTOR. Lanes are columns, and where columns end they go on into the next row: what
 * is found there is nobody's. All sums are exact, so their order does not matter. */
#if DPF_VECTOR
#define LANES (DPF_VECTOR / 8)
typedef double DPF_NAME(gram_vec) __attribute__((vector_size(DPF_VECTOR)));
#define VEC DPF_NAME(gram_vec)
#else
#define LANES 1
#define VEC double
#endif

static inline VEC DPF_NAME(gram_load)(const double *from)
{
    VEC v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* Adds the products of `high` columns (4 or 8) with those of a vector. */
#define TILE(high)                                                                                  \
    {                                                                                               \
        VEC s[high];                                                                                \
        for (int k = 0; k < high; k++)                                                              \
            s[k] = DPF_NAME(gram_load)(found + (i + k) * wide + j);                                 \
        for (size_t r = 0; r < n; r++) {                                                            \
            const VEC v = DPF_NAME(gram_load)(z + r * width + j);                                   \
            for (int k = 0; k < high; k++)                                                          \
                s[k] += z[r * width + i + k] * v;                                                   \
        }                                                                                           \
        for (int k = 0; k < high; k++)                                                              \
            memcpy(found + (i + k) * wide + j, s + k, sizeof *s);                                   \
    }

static void DPF_NAME(gram_add)(const double *z, size_t n, size_t width, double *found)
{
    const size_t wide = (width + LANES - 1) / LANES * LANES, last = (width + 7) / 8 * 8 * wide;
    for (size_t i = 0; i < width; i += 8)
        for (size_t j = i / LANES * LANES; j < width; j += LANES)
            if (width - i > 4)
                TILE(8)
            else
                TILE(4)
    for (size_t j = 0; j < width; j += LANES) {
        VEC s = DPF_NAME(gram_load)(found + last + j);
        for (size_t r = 0; r < n; r++)
            s += DPF_NAME(gram_load)(z + r * width + j);
        memcpy(found + last + j, &s, sizeof s);
    }
}

#undef LANES
#undef VEC
#undef TILE
