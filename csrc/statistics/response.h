/* Coins of one probability for many rows, and the answers of randomized response.
 *
 * Coins. The probability of heads is (first + (second + t) 2^-64) 2^-8 with 0 <= t <= 1: `first` is
 * its first 8 bits, and `second` the next 64. A uniform number of [0, 1) is compared with it. If
 * the first 8 bits of the number are not `first`, they decide. Otherwise 64 further bits are drawn.
 * If these are `second`, the coin is undecided, and the caller decides it with further bits. So the
 * distribution is exact, and a coin takes 8.25 random bits on average.
 *
 * The order of random bits. For each block of DPF_RESPONSE_BLOCK rows (the last may have fewer),
 * first one byte for each row (in whole words, low byte first), then one word for each row whose
 * byte is `first`, in the order of the rows.
 *
 * Its slow twin is tests/reference/statistics/response.py.
 */
#ifndef DPF_RESPONSE_H
#define DPF_RESPONSE_H

#include <stddef.h>
#include <stdint.h>

#include "noise/choice_words.h"

#define DPF_RESPONSE_BLOCK 4096
#define DPF_RESPONSE_OPEN 2
#define DPF_RESPONSE_MOST 0x80000000u /* the largest number of categories */

/* Changes bits[i] (0 or 1) if coin i shows heads, and adds DPF_RESPONSE_OPEN to it if the coin is
 * undecided. Returns how many coins are undecided. */
size_t dpf_response_flip(dpf_words *words, uint8_t first, uint64_t second, uint8_t *bits, size_t n);

/* out[i] is 1 if values[i] is not 0, else 0, and is then changed by a coin as in dpf_response_flip.
 * `out` has integers of the same width. */
#define DPF_RESPONSE_BINARY(width)                                                                 \
    size_t dpf_response_binary_##width(dpf_words *words, uint8_t first, uint64_t second,           \
                                       const uint##width##_t *values, size_t n,                    \
                                       uint##width##_t *out)
DPF_RESPONSE_BINARY(8);
DPF_RESPONSE_BINARY(16);
DPF_RESPONSE_BINARY(32);
DPF_RESPONSE_BINARY(64);

/* The category of row i is values[i], or `instead` if that is not below `categories`. out[i] is
 * this category, or if other[i] is not 0, a uniform one of the other categories. 2 <= categories <=
 * DPF_RESPONSE_MOST, and it fits into the type.
 *
 * A half r of a word (32 bits, low half first) gives floor(r (categories - 1) / 2^32). It is
 * refused if the low half of the product is below 2^32 mod (categories - 1) (Lemire 2019). After
 * all rows of a block have a half, refused rows draw again in their order: the low half of a new
 * word each time. */
#define DPF_RESPONSE_OTHERS(width)                                                                 \
    void dpf_response_others_##width(dpf_words *words, uint32_t categories, uint32_t instead,      \
                                     const uint##width##_t *values, const uint8_t *other,          \
                                     size_t n, uint##width##_t *out)
DPF_RESPONSE_OTHERS(8);
DPF_RESPONSE_OTHERS(16);
DPF_RESPONSE_OTHERS(32);
DPF_RESPONSE_OTHERS(64);

/* Writes a fair random bit to column value[i] of row i of the (n, width) array `bits`, unless there
 * is no such column. It is bit i mod 64 of word floor(i / 64). */
void dpf_response_own(dpf_words *words, const int64_t *value, size_t n, size_t width, uint8_t *bits);

#endif
