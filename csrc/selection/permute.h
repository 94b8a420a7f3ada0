/* Independent coins for many candidates, where most of them show tails.
 *
 * Candidates are in blocks of 64. Each block has an exponent e: each of its coins shows heads with
 * probability 2^-e. For a small e, the AND of e random words is 64 such coins. For e >= 6 a block
 * mostly needs one byte:
 *
 *   with probability 64 2^-e, choose a uniform slot, let it be heads, flip the other 63 coins, and
 *   accept the set S of all heads with probability 1 / |S|; otherwise no coin shows heads.
 *
 * A nonempty set S can arise from each of its |S| members as the chosen slot. So its probability is
 * 64 2^-e * |S| (1/64) 2^-e(|S| - 1) (1 - 2^-e)^(64 - |S|) / |S| = 2^-e|S| (1 - 2^-e)^(64 - |S|),
 * that of 64 independent coins. Random bits decide all of this exactly, so nothing is rounded.
 *
 * Its slow twin is tests/reference/selection/permute.py.
 */
#ifndef DPF_COINS_H
#define DPF_COINS_H

#include "rng/rng.h"

#include <stddef.h>
#include <stdint.h>

#define DPF_COINS_MOST 200 /* the largest exponent; any smaller exponent is correct, too */
#define DPF_COINS_NONE 255 /* the exponent of a block that is left out */
#define DPF_COINS_RUN 64   /* the number of blocks that are handled together */

/* Writes the exponents of blocks whose best candidate is at distance d below the best score: the
 * largest integer up to DPF_COINS_MOST that is certainly not above c d / ln 2, so exp(-c d) <=
 * 2^-exponent. `distance` is d with a relative error of at most 2^-50. It is negative for a block
 * to leave out, and infinity represents anything beyond the largest double. counts[e] becomes the
 * number of blocks with exponent e. */
void dpf_coins_exponents(const double *distance, size_t blocks, double c, uint8_t *exponents,
                         uint64_t counts[256]);

/* Flips the coins of blocks *at .. blocks - 1, each with the block's exponent plus `shift` (>= 0).
 * Writes the numbers (64 block + slot) of the candidates with heads to `out`, in ascending order.
 * It stops before DPF_COINS_RUN blocks for which `room` (>= 64 DPF_COINS_RUN) might be too small;
 * then *at is the next block. Returns how many numbers were written. */
size_t dpf_coins_flip(const uint8_t *exponents, size_t blocks, unsigned shift, size_t *at,
                      int64_t *out, size_t room, dpf_rng *rng);

#endif
