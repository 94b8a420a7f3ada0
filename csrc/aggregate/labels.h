/* The block of sample and aggregate to which a row belongs: labels of 0 .. blocks - 1 under a
 * secret key.
 *
 * Random labels. Row i reads word i of a ChaCha20 stream that depends on the key alone. So the
 * label of any row can be computed without those of others, and neither the division into chunks
 * nor the number of workers changes it. The label of a 32-bit word w is floor(w blocks / 2^32).
 * Some labels would have one word more than others. So a word is refused if the low half of w
 * blocks is below 2^32 mod blocks (Lemire 2019). Then word i of the next layer is read, a stream
 * with another nonce, and so on. So labels are exactly uniform, and independent for each row.
 *
 *   word i of a layer = word i mod 256 of the 16 interleaved blocks (rng/rng.h) at block number
 *   16 floor(i / 256), whose low 32 bits are the counter; nonce = (its high bits, layer, "bloc").
 *
 * Labels of ids. SipHash-2-4 of the 16 bytes of the id's words (tables/keys.h), then floor(hash
 * blocks / 2^64). The label of an id is uniform to within 2^-32. That affects only how equal blocks
 * are in size. Privacy needs that the label does not depend on the rows of others.
 *
 * Its slow twin is tests/reference/aggregate/blocks.py.
 */
#ifndef DPF_LABELS_H
#define DPF_LABELS_H

#include <stddef.h>
#include <stdint.h>

#include "tables/keys.h"

#define DPF_LABELS_MOST 0x80000000u /* the largest number of blocks */

/* Labels of rows start .. start + n - 1; 1 <= blocks <= DPF_LABELS_MOST, start + n <= 2^63. */
void dpf_labels_random(const uint32_t key[8], uint32_t blocks, uint64_t start, size_t n,
                       uint32_t *out);

/* Labels of ids, whose two 64-bit words are in `low` and `high`; a `high` of NULL means zeros. */
void dpf_labels_keyed(const dpf_keys_key *key, uint32_t blocks, const uint64_t *low,
                      const uint64_t *high, size_t n, uint32_t *out);

/* Whether every label is below `blocks`. */
int dpf_labels_below(const uint32_t *labels, size_t n, uint32_t blocks);

#endif
