/* Independent coins for many candidates, where most of them show tails.
 *
 * Candidates stand in blocks of 64, and one integer says how rare heads are in a block: each of its
 * coins shows heads with probability 2^-e. For a small e, the AND of e random words is 64 such
 * coins. For e >= 6 a block mostly needs a byte:
 *
 *   with probability 64 2^-e, pick a slot uniformly, let it be heads, flip the 63 others, and keep
 *   the set S of heads with probability 1 / |S|; in every other case nothing is heads.
 *
 * A set S that is not empty is made from each of its |S| members, so its probability is
 * 64 2^-e * |S| (1/64) 2^-e(|S| - 1) (1 - 2^-e)^(64 - |S|) / |S| = 2^-e|S| (1 - 2^-e)^(64 - |S|),
 * which is that of 64 independent coins. All numbers are dyadic, so nothing is rounded.
 *
 * Its slow twin is tests/reference/selection/permute.py.
 */
#ifndef DPF_COINS_H
#define DPF_COINS_H

#include "rng/rng.h"

#include <stddef.h>
#include <stdint.h>

#define DPF_COINS_MOST 200 /* the largest exponent; a smaller one than could be is always lawful */
#define DPF_COINS_NONE 255 /* the exponent of a block that is left out */
#define DPF_COINS_RUN 64   /* blocks that are handled together */

/* Exponents for blocks at `distance` below the best score: the largest integer up to DPF_COINS_MOST
 * that is surely not above c d / ln 2, so that exp(-c d) <= 2^-exponent. `distance` is within a
 * relative 2^-50 of d; it is negative for a block to leave out, and infinity stands for anything
 * beyond the largest double. counts[e] becomes the number of blocks with e. */
void dpf_coins_exponents(const double *distance, size_t blocks, double c, uint8_t *exponents,
                         uint64_t counts[256]);

/* Flips the coins of blocks *at .. blocks - 1, each with the block's exponent plus `shift` (>= 0),
 * and writes the numbers (64 block + slot) of those with heads to `out`, in ascending order. Stops
 * before a run for which `room` (>= 64 DPF_COINS_RUN) might not do; *at is then the block to go on
 * with. Returns how many numbers were written. */
size_t dpf_coins_flip(const uint8_t *exponents, size_t blocks, unsigned shift, size_t *at,
                      int64_t *out, size_t room, dpf_rng *rng);

#endif
