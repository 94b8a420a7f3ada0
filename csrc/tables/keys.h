/* Keys and ids as words of 128 bits: equal ones have equal words, in whatever form they come.
 *
 * The top bit of the high word is set in those of text and bytes, and in no others; the next one
 * tells bytes from text. Up to 15 bytes are words by themselves, so they meet no other key. Longer
 * ones are their SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012, and their program), of
 * their bytes and one that tells the kind, under a secret key: two of them meet with probability
 * 2^-125. What is a number is its own words (dpfast/tables/key_words.py). Zeros at the end do not
 * count, because NumPy drops them.
 *
 * Its slow twin is tests/reference/tables/key_words.py.
 */
#ifndef DPF_KEYS_H
#define DPF_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* The last byte of a message. */
enum { DPF_KEY_TEXT = 2, DPF_KEY_BYTES = 3 };

/* A secret: the first two words are the key of SipHash. */
typedef struct {
    uint64_t k0, k1;
} dpf_keys_key;

/* Words of byte strings, from[i] .. from[i + 1] - 1 of `data`; kind: the last byte. */
void dpf_keys_bytes(const dpf_keys_key *key, const uint8_t *data, const int64_t *from, unsigned kind,
                    size_t n, uint64_t *low, uint64_t *high);
/* Words of Arrow's views of 16 bytes: a length, then up to 12 bytes, or the first 4, the number of
 * one of `count` buffers and an offset in it. A row that is not `present` (NULL: all are) may have
 * any view. 0 if another points outside of the buffers, of these sizes. */
int dpf_keys_views(const dpf_keys_key *key, const uint8_t *views, const uint8_t *const *buffers,
                   const int64_t *sizes, size_t count, const uint8_t *present, unsigned kind,
                   size_t n, uint64_t *low, uint64_t *high);
/* Words of byte strings of `width` bytes. */
void dpf_keys_padded(const dpf_keys_key *key, const uint8_t *data, size_t width, size_t n,
                     uint64_t *low, uint64_t *high);
/* Words of texts of `width` code points, hashed as UTF-8. scratch: 4 width bytes. */
void dpf_keys_text(const dpf_keys_key *key, const uint32_t *codes, size_t width, uint8_t *scratch,
                   size_t n, uint64_t *low, uint64_t *high);

/* SipHash-2-4 of the 16 bytes of each two words; `high` NULL: zeros. */
void dpf_keys_hash(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high, size_t n,
                   uint64_t *out);

/* SipHash-2-4 of a message of any length: of 64 bits, or of 128 if `high` is not NULL. */
uint64_t dpf_siphash(const dpf_keys_key *key, const uint8_t *data, size_t bytes, uint64_t *high);

#endif
