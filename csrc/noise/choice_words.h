/* Random words for the kernels of exact choice: from a bit stream or, in tests, from an array of
 * words (a script). */
#ifndef DPF_CHOICE_WORDS_H
#define DPF_CHOICE_WORDS_H

#include <stddef.h>
#include <stdint.h>

#include "rng/rng.h"

typedef struct {
    dpf_rng *rng; /* NULL for a script */
    const uint64_t *given;
    size_t at, end; /* the next word of the script, and its length */
    int short_of;   /* set when the script has ended; then all words are 0, which ends every loop */
} dpf_words;

static inline uint64_t dpf_words_one(dpf_words *w)
{
    if (w->rng) {
        uint8_t raw[8];
        uint64_t word = 0;
        dpf_rng_fill(w->rng, raw, sizeof raw);
        for (int i = 0; i < 8; i++)
            word |= (uint64_t)raw[i] << (8 * i);
        return word;
    }
    if (w->at < w->end)
        return w->given[w->at++];
    w->short_of = 1;
    return 0;
}

static inline void dpf_words_fill(dpf_words *w, uint64_t *out, size_t n)
{
    if (!w->rng || *(const uint8_t *)&(const uint16_t){1} == 0) { /* a script, or big-endian */
        for (size_t i = 0; i < n; i++)
            out[i] = dpf_words_one(w);
        return;
    }
    dpf_rng_fill(w->rng, out, n * sizeof *out);
}

/* Returns a uniform integer below n >= 2: as many leading bits of a word as n - 1 has. If they are
 * n or more, another word is drawn. */
static inline uint64_t dpf_words_below_of(dpf_words *w, uint64_t word, uint64_t n)
{
#if defined(__GNUC__) || defined(__clang__)
    int spare = __builtin_clzll(n - 1);
#else
    int spare = 64;
    for (uint64_t top = n - 1; top; top >>= 1)
        spare--;
#endif
    while (word >> spare >= n)
        word = dpf_words_one(w);
    return word >> spare;
}

/* The same for n >= 1. For n = 1 no bits are drawn. */
static inline uint64_t dpf_words_below(dpf_words *w, uint64_t n)
{
    return n == 1 ? 0 : dpf_words_below_of(w, dpf_words_one(w), n);
}

#endif
