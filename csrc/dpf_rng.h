/* Secure bits: a ChaCha20 stream (RFC 8439 block function) with fast key erasure.
 *
 * The stream. A refill runs the block function on counters 0, 1, ... under the current key and a zero
 * nonce, DPF_RNG_BLOCKS blocks in groups of 16; within a group, word w of block b is stored at word
 * 16 w + b (the order in which a 16-lane register holds it, so no path has to transpose). The first 32
 * bytes of a refill become the next key, the rest is handed out in order and wiped as it goes. The
 * bytes do not depend on the instruction set, nor on how requests are cut.
 *
 * The state knows nothing of entropy, threads or processes: dpfast/rng.py gives each thread its own
 * state, keys it from the operating system, and throws it away in a new process.
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
                      uint32_t out[256]);

void dpf_rng_seed(dpf_rng *rng, const uint8_t key[32]);
void dpf_rng_fill(dpf_rng *rng, void *out, size_t bytes);
/* Overwrites the key and the buffer in a way that the compiler may not drop. */
void dpf_rng_wipe(dpf_rng *rng);

#endif
