static inline void DPF_NAME(add)(const uint8_t *restrict counts, int32_t weight, size_t n,
                                 int32_t *restrict out)
{
    for (size_t i = 0; i < n; i++)
        out[i] += weight * counts[i];
}

static void DPF_NAME(sums)(const uint8_t *counts, size_t stride, const int32_t *weights,
                           size_t universe, size_t from, size_t to, int32_t *out)
{
    for (size_t at = from; at < to; at += BLOCK) {
        const size_t n = to - at < BLOCK ? to - at : BLOCK;
        for (size_t i = 0; i < n; i++)
            out[at + i] = 0;
        for (size_t u = 0; u < universe; u++)
            if (weights[u])
                DPF_NAME(add)(counts + u * stride + at, weights[u], n, out + at);
    }
}
