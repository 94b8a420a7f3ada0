/* SipHash-2-4 of two words for each row. */
#define HASH(second)                                                                               \
    for (size_t i = 0; i < n; i++) {                                                               \
        SIP_START(k0, k1);                                                                         \
        SIP_WORD(low[i]);                                                                          \
        SIP_WORD(second);                                                                          \
        SIP_WORD((uint64_t)16 << 56);                                                              \
        v2 ^= 0xff;                                                                                \
        SIP_END;                                                                                   \
        out[i] = SIP_HASH;                                                                         \
    }

static void DPF_NAME(hash)(uint64_t k0, uint64_t k1, const uint64_t *restrict low,
                           const uint64_t *restrict high, size_t n, uint64_t *restrict out)
{
    if (high)
        HASH(high[i])
    else
        HASH(0)
}
#undef HASH
