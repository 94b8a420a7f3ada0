/* Which block does a row belong to? Labels of 0 .. blocks - 1 under a secret key.
 *
 * Random labels. Row i reads word i of a ChaCha20 stream that nothing but the key decides, so a
 * label can be had for any row without the others, and neither the cut into chunks nor the number
 * of workers can change it. A 32-bit word w gives floor(w blocks / 2^32). Some quotients have one
 * word more than the others; a word whose product has a low half below 2^32 mod blocks is therefore
 * refused (Lemire 2019), and word i of the next layer, a stream with another nonce, is read, and
 * so on. So labels are exactly uniform, and independent by row.
 *
 *   word i of a layer = word i mod 256 of the 16 interleaved blocks (rng/rng.h) at block number
 *   16 floor(i / 256), whose low 32 bits are the counter; nonce = (its high bits, layer, "bloc").
 *
 * Labels of ids. SipHash-2-4 of the 16 bytes of the id's words (tables/keys.h), then
 * floor(hash blocks / 2^64). For an id a label is uniform to within 2^-32, which is a matter of
 * balance only: privacy asks that the rows of other units do not decide it.
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

/* Labels of ids by their words; `high` NULL: zeros. */
void dpf_labels_keyed(const dpf_keys_key *key, uint32_t blocks, const uint64_t *low,
                      const uint64_t *high, size_t n, uint32_t *out);

/* Whether every label is below `blocks`. */
int dpf_labels_below(const uint32_t *labels, size_t n, uint32_t blocks);

#endif
