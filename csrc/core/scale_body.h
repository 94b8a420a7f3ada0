/* Turns words of 32 random bits into integers below a limit: out[i] = floor(words[i] limit / 2^32).
 * Returns whether the low half of any product is below `least`, which is 2^32 mod limit. The caller
 * must draw such a word again, so that the integers are exactly uniform. */
static int DPF_NAME(scale)(const uint32_t *restrict words, uint32_t limit, uint32_t least, size_t n,
                           uint32_t *restrict out)
{
    uint32_t refused = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t product = (uint64_t)words[i] * limit;
        out[i] = (uint32_t)(product >> 32);
        refused |= (uint32_t)product < least;
    }
    return refused != 0;
}
