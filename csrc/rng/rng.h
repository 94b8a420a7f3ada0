/* Secure bits: a ChaCha20 stream (RFC 8439 block function) with fast key erasure.
 *
 * The stream. A refill runs the block function on counters 0, 1, ... under the current key and a
 * zero nonce, DPF_RNG_BLOCKS blocks in groups of 16; within a group, word w of block b is stored at
 * word 16 w + b (the order in which a 16-lane register holds it, so no path has to transpose), each
 * word with its low byte first. The first 32 bytes of a refill become the next key, the rest is
 * handed out in order and wiped as it goes. The bytes depend neither on the instruction set, nor on
 * how requests are cut. (Large requests also go through the buffer: it stays in the first-level
 * cache, and writing straight to the reader measured no faster.)
 *
 * What a look at the memory tells. Bytes that were handed out are gone, and the key that made them
 * was overwritten by its successor, so past output cannot be computed from the state.
 *
 * The state knows nothing of entropy, threads or processes: dpfast/rng.py gives each thread its own
 * state, keys it from the operating system, and throws it away in a new process.
 *
 * Its slow twin is tests/reference/rng.py.
 */
#ifndef DPF_RNG_H
#define DPF_RNG_H

#include <stddef.h>
#include <stdint.h>

#define DPF_RNG_BLOCKS 128
#define DPF_RNG_BYTES (64 * DPF_RNG_BLOCKS)

typedef struct {
    uint32_t key[8];
    size_t at; /* next unread byte of buffer; DPF_RNG_BYTES when it is empty */
    uint8_t buffer[DPF_RNG_BYTES];
} dpf_rng;

/* Sixteen ChaCha20 blocks at counters counter..counter+15 in the interleaved order. */
void dpf_chacha_group(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3],
                      uint8_t out[1024]);
/* 32 `pairs` blocks at counters counter, counter + 1, ..., which do not pass 2^32 - 1, by groups of
 * sixteen in that order: out has 2048 bytes a pair. */
void dpf_chacha_pairs(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3],
                      size_t pairs, uint8_t *out);

void dpf_rng_seed(dpf_rng *rng, const uint8_t key[32]);
/* The next `bytes` bytes of the stream. Kernels draw some KB at a time; a call costs a few ns. */
void dpf_rng_fill(dpf_rng *rng, void *out, size_t bytes);
/* Overwrites the key and the buffer; the state has to be seeded again before use. */
void dpf_rng_wipe(dpf_rng *rng);
/* memset(p, 0, bytes) that the compiler may not drop. */
void dpf_wipe(void *p, size_t bytes);

#endif
