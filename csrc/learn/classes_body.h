/* Sums by class. The lanes of a vector are columns; columns that fill no vector are added one by
 * one. All sums are exact. */
#if DPF_VECTOR
#define LANES (DPF_VECTOR < 32 ? DPF_VECTOR / 8 : 4) /* wider sums take longer to load */
typedef double DPF_NAME(classes_vec) __attribute__((vector_size(8 * LANES)));
typedef int64_t DPF_NAME(classes_int) __attribute__((vector_size(8 * LANES)));
#define INT DPF_NAME(classes_int)
#define PICK(truth, a, b) (DPF_NAME(classes_vec))(((INT)(a) & (truth)) | ((INT)(b) & ~(truth)))
#endif
#define CHOOSE(truth, a, b) ((truth) ? (a) : (b))

/* Adds as many columns as a T has numbers, from column j on. `nan` counts NaN. */
#define ADD(T, WHICH, nan)                                                                         \
    {                                                                                              \
        T v, s, q, unit, least, most, centre;                                                      \
        memcpy(&v, row + j, sizeof v);                                                             \
        memcpy(&s, totals + j, sizeof s);                                                          \
        memcpy(&q, totals + width + j, sizeof q);                                                  \
        memcpy(&unit, limits->scale + j, sizeof unit);                                             \
        memcpy(&least, limits->lo + j, sizeof least);                                              \
        memcpy(&most, limits->hi + j, sizeof most);                                                \
        memcpy(&centre, limits->middle + j, sizeof centre);                                        \
        v *= unit;                                                                                 \
        nan += v != v;                                                                             \
        v = WHICH(v > least, v, least);                                                            \
        v = WHICH(v < most, v, most);                                                              \
        v = ((v + MAGIC) - MAGIC) - centre;                                                        \
        s += v;                                                                                    \
        q += v * v;                                                                                \
        memcpy(totals + j, &s, sizeof s);                                                          \
        memcpy(totals + width + j, &q, sizeof q);                                                  \
    }

static size_t DPF_NAME(classes)(const double *x, size_t n, size_t width,
                                const dpf_classes_limits *limits, const uint32_t *key,
                                uint32_t keys, double *sums)
{
    size_t nan = 0;
#if DPF_VECTOR
    INT truths = {0}; /* minus the number of NaN in each lane */
#endif
    for (size_t i = 0; i < n; i++) {
        const double *row = x + i * width;
        double *totals = sums + 2 * width * (key[i] < keys ? key[i] : keys);
        size_t j = 0;
#if defined(__GNUC__) || defined(__clang__)
        if (n - i > AHEAD) /* without a prefetch, the sums wait for memory */
            for (size_t k = 0; k < width; k += 8)
                __builtin_prefetch(row + AHEAD * width + k);
#endif
#if DPF_VECTOR
        for (; j + LANES <= width; j += LANES)
            ADD(DPF_NAME(classes_vec), PICK, truths)
#endif
        for (; j < width; j++)
            ADD(double, CHOOSE, nan)
    }
#if DPF_VECTOR
    for (size_t l = 0; l < LANES; l++)
        nan -= (size_t)truths[l];
#endif
    return nan;
}

#undef LANES
#undef INT
#undef PICK
#undef CHOOSE
#undef ADD
