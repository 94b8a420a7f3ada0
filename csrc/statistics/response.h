/* Coins of one probability for many rows, and the answers of randomized response.
 *
 * Coins. The probability of heads is (first + (second + t) 2^-64) 2^-8 with 0 <= t <= 1: its first
 * 8 bits and its next 64. A uniform number of [0, 1) whose first 8 bits are not `first` is on one
 * side of it; else 64 further bits are drawn; where these are `second` the coin is open, and the
 * caller decides it with more. So the distribution is exact, at 8.25 random bits a coin.
 *
 * Bits are used in this order: for each DPF_RESPONSE_BLOCK rows (and for those that remain) one
 * byte a row (whole words, low byte first), then one word for each row whose byte is `first`, by
 * row.
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
#define DPF_RESPONSE_MOST 0x80000000u /* categories */

/* bits[i] (0 or 1) changes where coin i shows heads; DPF_RESPONSE_OPEN is added to it where that is
 * open. Returns how many are open. */
size_t dpf_response_flip(dpf_words *words, uint8_t first, uint64_t second, uint8_t *bits, size_t n);

/* out[i] = whether values[i] is not 0, as 0 or 1, and coins as above for each; `out` is as wide. */
#define DPF_RESPONSE_BINARY(width)                                                                 \
    size_t dpf_response_binary_##width(dpf_words *words, uint8_t first, uint64_t second,           \
                                       const uint##width##_t *values, size_t n,                    \
                                       uint##width##_t *out)
DPF_RESPONSE_BINARY(8);
DPF_RESPONSE_BINARY(16);
DPF_RESPONSE_BINARY(32);
DPF_RESPONSE_BINARY(64);

/* out[i] = values[i], or `instead` where that is not below `categories`; but, where other[i] is not
 * 0, a uniform one of the other categories. 2 <= categories <= DPF_RESPONSE_MOST and fits into the
 * type.
 *
 * A 32-bit half r of a word (low half first) stands for floor(r (categories - 1) / 2^32); where the
 * low half of the product is below 2^32 mod (categories - 1) it is refused (Lemire 2019), and low
 * halves of single words follow, by row, after the DPF_RESPONSE_BLOCK rows (or those that remain)
 * have theirs. */
#define DPF_RESPONSE_OTHERS(width)                                                                 \
    void dpf_response_others_##width(dpf_words *words, uint32_t categories, uint32_t instead,      \
                                     const uint##width##_t *values, const uint8_t *other,          \
                                     size_t n, uint##width##_t *out)
DPF_RESPONSE_OTHERS(8);
DPF_RESPONSE_OTHERS(16);
DPF_RESPONSE_OTHERS(32);
DPF_RESPONSE_OTHERS(64);

/* Row i of the (n, width) array `bits` gets a fair bit in column value[i], if there is that column:
 * bit i mod 64 of word floor(i / 64). */
void dpf_response_own(dpf_words *words, const int64_t *value, size_t n, size_t width, uint8_t *bits);

#endif
