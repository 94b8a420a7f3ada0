/* Which block does a row belong to? Labels of 0 .. blocks - 1 under a secret key.
 *
 * Random labels. Row i reads word i of a ChaCha20 stream that nothing but the key decides, so a label
 * can be had for any row without the others, and neither the cut into chunks nor the number of workers
 * can change it. A 32-bit word w gives floor(w blocks / 2^32). Some quotients have one word more than the
 * others; a word whose product has a low half below 2^32 mod blocks is therefore refused (Lemire
 * 2019), and word i of the next layer, a stream with another nonce, is asked, and so on. So labels are
 * exactly uniform, and independent by row.
 *
 *   word i of a layer = word i mod 256 of the 16 interleaved blocks (rng/rng.h) at block number
 *   16 floor(i / 256), whose low 32 bits are the counter; nonce = (its high bits, layer, "bloc").
 *
 * Labels of ids. SipHash-2-4 (Aumasson and Bernstein 2012) of the id's bytes and one byte that tells
 * its kind, then floor(hash blocks / 2^64). An integer is its 8 low bytes, low byte first, so equal
 * numbers of different types meet. For an id a label is uniform to within 2^-32, which is a matter of
 * balance only: privacy asks that other people's rows do not decide it.
 */
#ifndef DPF_LABELS_H
#define DPF_LABELS_H

#include <stddef.h>
#include <stdint.h>

#define DPF_LABELS_MOST 0x80000000u /* the largest number of blocks */

/* The last byte of a message. */
enum { DPF_ID_WHOLE, DPF_ID_NEGATIVE, DPF_ID_TEXT, DPF_ID_BYTES, DPF_ID_NULL };

/* Labels of rows start .. start + n - 1; 1 <= blocks <= DPF_LABELS_MOST, start + n <= 2^63. */
void dpf_labels_random(const uint32_t key[8], uint32_t blocks, uint64_t start, size_t n,
                       uint32_t *out);

/* Labels of 64-bit integers, two's complement where `is_signed`. */
void dpf_labels_integers(const uint32_t key[8], uint32_t blocks, const uint64_t *ids, int is_signed,
                         size_t n, uint32_t *out);
/* Labels of byte strings, from[i] .. from[i + 1] - 1 of `data`, whose zeros at the end do not count;
 * kind: the last byte. */
void dpf_labels_bytes(const uint32_t key[8], uint32_t blocks, const uint8_t *data,
                      const int64_t *from, unsigned kind, size_t n, uint32_t *out);
/* Labels of byte strings of `width` bytes whose zeros at the end do not count. */
void dpf_labels_padded(const uint32_t key[8], uint32_t blocks, const uint8_t *data, size_t width,
                       size_t n, uint32_t *out);
/* Labels of texts of `width` code points whose zeros at the end do not count, hashed as UTF-8.
 * scratch: 4 width bytes. */
void dpf_labels_text(const uint32_t key[8], uint32_t blocks, const uint32_t *codes, size_t width,
                     uint8_t *scratch, size_t n, uint32_t *out);

/* SipHash-2-4 of `bytes` bytes followed by the byte `last`, under the key's first four words. */
uint64_t dpf_siphash(const uint32_t key[8], const uint8_t *data, size_t bytes, unsigned last);

/* Whether every label is below `blocks`. */
int dpf_labels_below(const uint32_t *labels, size_t n, uint32_t blocks);

#endif
