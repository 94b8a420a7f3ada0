/* Secure bits: a ChaCha20 stream (RFC 8439 block function) with fast key erasure.
 *
 * The stream. A refill runs the block function on counters 0, 1, ... with the current key and a
 * zero nonce. It makes DPF_RNG_BLOCKS blocks in groups of 16. In a group, word w of block b is
 * stored at word 16 w + b, each word with its low byte first. (A register with 16 lanes has this
 * order, so no path has to transpose.) The first 32 bytes of a refill become the next key. The
 * other bytes are returned in order, and each is overwritten then. So the bytes depend neither on
 * the instruction set nor on the sizes of requests. (Large requests use the buffer, too. It stays
 * in the first-level cache, and writing directly to the caller's memory was no faster.)
 *
 * Memory dumps. Returned bytes are overwritten, and so is the key from which they were computed. So
 * past output cannot be computed from the state.
 *
 * This code does not know entropy, threads or processes. dpfast/rng.py gives each thread its own
 * state with a key from the operating system, and discards the state in a new process.
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
    size_t at; /* the next unread byte of buffer; DPF_RNG_BYTES if there is none */
    uint8_t buffer[DPF_RNG_BYTES];
} dpf_rng;

/* Writes sixteen ChaCha20 blocks with the counters counter .. counter + 15, in the order above. */
void dpf_chacha_group(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3],
                      uint8_t out[1024]);
/* Writes 32 `pairs` blocks with the counters counter, counter + 1, ..., in groups of sixteen in
 * that order. No counter may exceed 2^32 - 1. `out` has 2048 bytes for each pair of groups. */
void dpf_chacha_pairs(const uint32_t key[8], uint32_t counter, const uint32_t nonce[3],
                      size_t pairs, uint8_t *out);

void dpf_rng_seed(dpf_rng *rng, const uint8_t key[32]);
/* Writes the next `bytes` bytes of the stream. A call costs a few ns, so kernels draw some KB at a
 * time. */
void dpf_rng_fill(dpf_rng *rng, void *out, size_t bytes);
/* Overwrites the key and the buffer. The state needs a new seed before it is used again. */
void dpf_rng_wipe(dpf_rng *rng);
/* memset(p, 0, bytes) that the compiler may not optimize away. */
void dpf_wipe(void *p, size_t bytes);

#endif
