#include "statistics/response.h"

#include "core/isa.h"

#define STRETCH 64 /* one test shows whether any byte of so many rows is undecided */
#define BLOCK DPF_RESPONSE_BLOCK

#define DPF_BODY "statistics/response_body.h"
#include "core/each_isa.h"

/* Random bits of one block. The low byte or half is the first, on machines of any byte order. */
typedef union {
    uint64_t words[BLOCK / 2];
    uint32_t halves[BLOCK];
    uint8_t bytes[4 * BLOCK];
} bits;

static int high_byte_first(void)
{
    return *(const uint8_t *)&(const uint16_t){1} == 0;
}

static void fill_bytes(dpf_words *words, bits *drawn, size_t rows)
{
    const size_t n = (rows + 7) / 8;
    dpf_words_fill(words, drawn->words, n);
    for (size_t i = 0; high_byte_first() && i < n; i++) {
        const uint64_t word = drawn->words[i];
        for (size_t j = 0; j < 8; j++)
            drawn->bytes[8 * i + j] = (uint8_t)(word >> (8 * j));
    }
}

static void fill_halves(dpf_words *words, bits *drawn, size_t rows)
{
    const size_t n = (rows + 1) / 2;
    dpf_words_fill(words, drawn->words, n);
    for (size_t i = 0; high_byte_first() && i < n; i++) {
        const uint64_t word = drawn->words[i];
        drawn->halves[2 * i] = (uint32_t)word;
        drawn->halves[2 * i + 1] = (uint32_t)(word >> 32);
    }
}

/* Flips the coins of m <= BLOCK rows. Returns how many are undecided. */
static size_t flip_block(dpf_words *words, uint8_t first, uint64_t second, uint8_t *rows, size_t m,
                         bits *drawn)
{
    uint8_t ties[BLOCK / STRETCH];
    const uint8_t *const u = drawn->bytes;
    size_t open = 0;
    fill_bytes(words, drawn, m);
    DPF_CHOSEN(compare)(u, first, m, rows, ties);
    for (size_t s = 0; s < m; s += STRETCH) {
        if (!ties[s / STRETCH])
            continue;
        for (size_t i = s; i < m && i < s + STRETCH; i++) {
            if (u[i] != first)
                continue;
            const uint64_t word = dpf_words_one(words);
            rows[i] ^= word < second;
            if (word == second) {
                rows[i] |= DPF_RESPONSE_OPEN;
                open++;
            }
        }
    }
    return open;
}

size_t dpf_response_flip(dpf_words *words, uint8_t first, uint64_t second, uint8_t *rows, size_t n)
{
    bits drawn;
    size_t open = 0;
    for (size_t at = 0; at < n; at += BLOCK)
        open += flip_block(words, first, second, rows + at, n - at < BLOCK ? n - at : BLOCK, &drawn);
    dpf_wipe(&drawn, sizeof drawn);
    return open;
}

#define BINARY(width)                                                                              \
    DPF_RESPONSE_BINARY(width)                                                                     \
    {                                                                                              \
        bits drawn;                                                                                \
        uint8_t rows[BLOCK];                                                                       \
        size_t open = 0;                                                                           \
        for (size_t at = 0; at < n; at += BLOCK) {                                                 \
            const size_t m = n - at < BLOCK ? n - at : BLOCK;                                      \
            DPF_CHOSEN(truth_##width)(values + at, m, rows);                                       \
            open += flip_block(words, first, second, rows, m, &drawn);                             \
            DPF_CHOSEN(widened_##width)(rows, m, out + at);                                        \
        }                                                                                          \
        dpf_wipe(&drawn, sizeof drawn);                                                            \
        dpf_wipe(rows, sizeof rows);                                                               \
        return open;                                                                               \
    }
BINARY(8)
BINARY(16)
BINARY(32)
BINARY(64)

/* Draws a uniform integer below `others` for each of m <= BLOCK rows. */
static void draw_ranks(dpf_words *words, uint32_t others, uint32_t least, size_t m, bits *drawn,
                       uint32_t *ranks)
{
    const uint32_t *const r = drawn->halves;
    fill_halves(words, drawn, m);
    if (!DPF_CHOSEN(scale)(r, others, least, m, ranks))
        return;
    for (size_t i = 0; i < m; i++) {
        uint64_t product = (uint64_t)r[i] * others;
        while ((uint32_t)product < least && !words->short_of)
            product = (dpf_words_one(words) & 0xffffffff) * others;
        ranks[i] = (uint32_t)(product >> 32);
    }
}

#define OTHERS(width)                                                                              \
    DPF_RESPONSE_OTHERS(width)                                                                     \
    {                                                                                              \
        const uint32_t others = categories - 1, least = (0 - others) % others;                     \
        bits drawn;                                                                                \
        uint32_t ranks[BLOCK];                                                                     \
        for (size_t at = 0; at < n; at += BLOCK) {                                                 \
            const size_t m = n - at < BLOCK ? n - at : BLOCK;                                      \
            draw_ranks(words, others, least, m, &drawn, ranks);                                    \
            DPF_CHOSEN(answer_##width)(values + at, other + at, ranks, categories, instead, m,     \
                                       out + at);                                                  \
        }                                                                                          \
        dpf_wipe(&drawn, sizeof drawn);                                                            \
        dpf_wipe(ranks, sizeof ranks);                                                             \
    }
OTHERS(8)
OTHERS(16)
OTHERS(32)
OTHERS(64)

void dpf_response_own(dpf_words *words, const int64_t *value, size_t n, size_t width, uint8_t *bits)
{
    uint64_t fair = 0;
    for (size_t i = 0; i < n; i++, fair >>= 1, bits += width) {
        if (i % 64 == 0)
            fair = dpf_words_one(words);
        if (value[i] >= 0 && (uint64_t)value[i] < width)
            bits[value[i]] = (uint8_t)(fair & 1);
    }
}
