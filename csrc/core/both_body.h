/* How many bits are 1 in both of two arrays of at most WORDS words. */
static uint64_t DPF_NAME(both)(const uint64_t *restrict a, const uint64_t *restrict b, size_t n)
{
    const uint64_t one = 0x5555555555555555u, two = 0x3333333333333333u;
    const uint64_t four = 0x0f0f0f0f0f0f0f0fu, eight = 0x00ff00ff00ff00ffu;
    const uint64_t wide = 0x0000ffff0000ffffu;
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) { /* counts in fields of 1, 2, 4, 8 and then 16 bits */
        uint64_t x = a[i] & b[i];
        x -= x >> 1 & one;
        x = (x & two) + (x >> 2 & two);
        x = (x + (x >> 4)) & four;
        sum += (x & eight) + (x >> 8 & eight);
    }
    sum = (sum & wide) + (sum >> 16 & wide);
    return (sum & UINT32_MAX) + (sum >> 32);
}
