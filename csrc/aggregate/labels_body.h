/* The loops of aggregate/labels.c that gain from wide registers; once per instruction set. */

/* floor(w blocks / 2^32) of each word; whether any low half is below `least`. */
static int DPF_NAME(scale)(const uint32_t *words, uint32_t blocks, uint32_t least, size_t n,
                           uint32_t *out)
{
    uint32_t low = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t product = (uint64_t)words[i] * blocks;
        out[i] = (uint32_t)(product >> 32);
        low |= (uint32_t)product < least;
    }
    return low != 0;
}

static uint32_t DPF_NAME(largest)(const uint32_t *labels, size_t n)
{
    uint32_t largest = 0;
    for (size_t i = 0; i < n; i++)
        largest = labels[i] > largest ? labels[i] : largest;
    return largest;
}
