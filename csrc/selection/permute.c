#include "selection/permute.h"

#include <float.h>
#include <string.h>

void dpf_coins_exponents(const double *distance, size_t blocks, double c, uint8_t *exponents,
                         uint64_t counts[256])
{
    /* The relative errors are 2^-50 of the distance, and 2^-53 each of the constant, the
     * subtraction and three products (2^-50 for the first product, if it is subnormal and the
     * result is still at least 1). Their sum is below 2^-48. */
    const double scaled = c * 1.4426950408889634, rate = scaled < DBL_MAX ? scaled : DBL_MAX;
    memset(counts, 0, 256 * sizeof *counts);
    for (size_t b = 0; b < blocks; b++) {
        const double d = distance[b];
        uint8_t e = DPF_COINS_NONE;
        if (!(d < 0)) {
            const double bits = (d < DBL_MAX ? d : DBL_MAX) * rate * (1 - 0x1p-48);
            e = bits < DPF_COINS_MOST ? bits >= 1 ? (uint8_t)bits : 0 : DPF_COINS_MOST;
        }
        exponents[b] = e;
        counts[e]++;
    }
}

static uint64_t word(dpf_rng *rng)
{
    uint64_t w;
    dpf_rng_fill(rng, &w, sizeof w);
    return w;
}

/* Returns the heads among 64 coins of probability 2^-e. */
static uint64_t coins(unsigned e, dpf_rng *rng)
{
    uint64_t heads = UINT64_MAX;
    while (e-- && heads)
        heads &= word(rng);
    return heads;
}

/* Flips one coin of probability 2^-e. */
static int coin(unsigned e, dpf_rng *rng)
{
    for (; e > 64; e -= 64)
        if (word(rng))
            return 0;
    return !e || !(word(rng) >> (64 - e));
}

static unsigned count(uint64_t set)
{
    unsigned members = 0;
    for (; set; set &= set - 1)
        members++;
    return members;
}

/* Flips one coin of probability 1 / n, for n <= 64. */
static int one_in(unsigned n, dpf_rng *rng)
{
    unsigned r;
    if (n == 1)
        return 1;
    do
        r = (unsigned)(word(rng) & 63);
    while (r >= n);
    return r == 0;
}

/* Returns the heads of a block of exponent e >= 6, after its coin of probability 64 2^-e has shown
 * heads. */
static uint64_t seldom(unsigned e, dpf_rng *rng)
{
    /* Separate statements, because C does not define which operand of | is evaluated first. */
    uint64_t heads = coins(e, rng);
    heads |= (uint64_t)1 << (word(rng) & 63);
    return one_in(count(heads), rng) ? heads : 0;
}

size_t dpf_coins_flip(const uint8_t *exponents, size_t blocks, unsigned shift, size_t *at,
                      int64_t *out, size_t room, dpf_rng *rng)
{
    size_t written = 0;
    while (*at < blocks && room - written >= 64 * DPF_COINS_RUN) {
        const size_t here = blocks - *at < DPF_COINS_RUN ? blocks - *at : DPF_COINS_RUN;
        uint8_t bytes[DPF_COINS_RUN];
        dpf_rng_fill(rng, bytes, sizeof bytes);
        for (size_t i = 0; i < here; i++) {
            const size_t block = *at + i;
            const unsigned e = exponents[block] + shift;
            uint64_t heads;
            if (e >= 14) { /* are there any heads? 8 bits mostly decide, and further bits seldom */
                if (bytes[i] || exponents[block] == DPF_COINS_NONE || !coin(e - 14, rng))
                    continue;
                heads = seldom(e, rng);
            } else if (e >= 6) {
                if (bytes[i] & ((1u << (e - 6)) - 1))
                    continue;
                heads = seldom(e, rng);
            } else {
                heads = coins(e, rng);
            }
            for (unsigned slot = 0; heads; slot++, heads >>= 1)
                if (heads & 1)
                    out[written++] = (int64_t)(64 * block + slot);
        }
        dpf_wipe(bytes, sizeof bytes);
        *at += here;
    }
    return written;
}
