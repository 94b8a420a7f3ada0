/* Codes of keys: 0, 1, ... in the order in which their words (tables/keys.h) were first seen.
 *
 * The table is an open hash table. At most half of its slots are taken, and the index of a key is
 * its SipHash-2-4 under a secret key, so no data can make it slow. The first keys also have a
 * shortcut: a small table, whose index is one product instead of a SipHash. If two keys have the
 * same index there, the second has no shortcut. The caller provides zeroed memory for slots, high
 * words and shortcuts.
 *
 * Its slow twin is tests/reference/groups/codes.py.
 */
#ifndef DPF_GROUPS_CODES_H
#define DPF_GROUPS_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "tables/keys.h"

#define DPF_CODES_BITS 32           /* the largest table has 2^32 slots */
#define DPF_CODES_MOST 0x7fffffffu  /* the largest number of codes */
#define DPF_CODES_NEAR 12           /* there is room for 2^12 shortcuts */
#define DPF_CODES_FEW 1024          /* only the first 1024 codes have shortcuts */

typedef struct {
    uint64_t low;
    uint32_t next; /* 1 + the code of the key, or 0 for a free slot */
    uint32_t hash;
} dpf_codes_slot;

typedef struct {
    dpf_keys_key key;
    dpf_codes_slot *slots; /* 2^bits */
    dpf_codes_slot *near;  /* 2^DPF_CODES_NEAR: copies of the slots of the first codes */
    uint64_t *high;        /* 2^(bits - 1): the high word of each code */
    unsigned bits;
    int wide; /* whether any high word is not 0 */
    uint32_t count;
} dpf_codes;

/* Writes the code of each row: -1 if its words are not in the table, or its `present` is 0. A
 * `high` of NULL means zeros, a `present` of NULL means ones. It only reads the table. */
void dpf_codes_find(const dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                    const uint8_t *present, size_t n, int32_t *out);

/* Like dpf_codes_find, but new words get the next code. The numbers of their rows, counted from
 * `first`, are written to `fresh` from *news on; it has room for all. Returns the number of
 * finished rows. It is less than n if the table is full and must grow, or has its largest size. */
size_t dpf_codes_add(dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                     const uint8_t *present, size_t n, int32_t *out, int64_t first, int64_t *fresh,
                     size_t *news);

/* Copies the entries of a table to `slots`, which are twice as many and empty. */
void dpf_codes_move(const dpf_codes *codes, dpf_codes_slot *slots);

/* Writes one word for each pair of codes, and whether neither code is negative. */
void dpf_codes_pair(const int32_t *a, const int32_t *b, size_t n, uint64_t *low, uint8_t *present);

#endif
