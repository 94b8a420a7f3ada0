/* Keys and ids as words of 128 bits. Equal keys have equal words, in any form of the data.
 *
 * The top bit of the high word is set for text and bytes, and for nothing else; the next bit is set
 * for bytes. Up to 15 bytes are stored in the words, so they differ from every other key. The words
 * of longer ones are a SipHash-2-4 with 128 bits (Aumasson and Bernstein 2012, and their program)
 * of their bytes and of one byte for the kind, under a secret key. Two of them are equal with
 * probability 2^-125. A number is stored in the words (dpfast/tables/key_words.py). Zero bytes at
 * the end do not count, because NumPy drops them.
 *
 * Its slow twin is tests/reference/tables/key_words.py.
 */
#ifndef DPF_KEYS_H
#define DPF_KEYS_H

#include <stddef.h>
#include <stdint.h>

/* The kind, which is the last byte of a message. */
enum { DPF_KEY_TEXT = 2, DPF_KEY_BYTES = 3 };

/* A secret key; its first two words are the key of SipHash. */
typedef struct {
    uint64_t k0, k1;
} dpf_keys_key;

/* Words of byte strings. String i is bytes from[i] .. from[i + 1] - 1 of `data`. */
void dpf_keys_bytes(const dpf_keys_key *key, const uint8_t *data, const int64_t *from, unsigned kind,
                    size_t n, uint64_t *low, uint64_t *high);
/* Words of Arrow's views of 16 bytes. A view is a length, and then up to 12 bytes; or the first 4
 * bytes, the number of one of `count` buffers and an offset in it. A row that is not `present` may
 * have any view; a `present` of NULL means that all rows are. Returns 0 if the view of another row
 * points outside of the buffers, else 1. */
int dpf_keys_views(const dpf_keys_key *key, const uint8_t *views, const uint8_t *const *buffers,
                   const int64_t *sizes, size_t count, const uint8_t *present, unsigned kind,
                   size_t n, uint64_t *low, uint64_t *high);
/* Words of byte strings of `width` bytes. */
void dpf_keys_padded(const dpf_keys_key *key, const uint8_t *data, size_t width, size_t n,
                     uint64_t *low, uint64_t *high);
/* Words of texts of `width` code points, as UTF-8. `scratch` has 4 width bytes. */
void dpf_keys_text(const dpf_keys_key *key, const uint32_t *codes, size_t width, uint8_t *scratch,
                   size_t n, uint64_t *low, uint64_t *high);

/* SipHash-2-4 of the 16 bytes of each two words; a `high` of NULL means zeros. */
void dpf_keys_hash(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high, size_t n,
                   uint64_t *out);

/* SipHash-2-4 of a message of any length, with 64 bits, or with 128 if `high` is not NULL. */
uint64_t dpf_siphash(const dpf_keys_key *key, const uint8_t *data, size_t bytes, uint64_t *high);

#endif
