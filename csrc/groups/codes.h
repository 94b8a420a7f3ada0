/* Codes of keys: 0, 1, ... in the order in which their words (tables/keys.h) were first seen.
 *
 * An open hash table of slots side by side, at most half of them taken, in the order of SipHash-2-4
 * of the words under a secret key: no data can make it slow. The first keys have a shortcut
 * besides, whose indices come from one product instead of a SipHash; two keys of one index cost
 * what they did without it. Slots, high words and shortcuts are zeroed memory of the caller's.
 *
 * Its slow twin is tests/reference/groups/codes.py.
 */
#ifndef DPF_GROUPS_CODES_H
#define DPF_GROUPS_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "tables/keys.h"

#define DPF_CODES_BITS 32           /* of the largest table */
#define DPF_CODES_MOST 0x7fffffffu  /* codes */
#define DPF_CODES_NEAR 12           /* bits of the places of shortcuts */
#define DPF_CODES_FEW 1024          /* codes for which there are shortcuts */

typedef struct {
    uint64_t low;
    uint32_t next; /* 1 + its code; 0: the slot is free */
    uint32_t hash;
} dpf_codes_slot;

typedef struct {
    dpf_keys_key key;
    dpf_codes_slot *slots; /* 2^bits */
    dpf_codes_slot *near;  /* 2^DPF_CODES_NEAR: copies of the slots of the first codes */
    uint64_t *high;        /* the high word of each code, for half as many codes */
    unsigned bits;
    int wide; /* whether a high word is not 0 */
    uint32_t count;
} dpf_codes;

/* The code of each row, -1 of one whose words are not there, or whose `present` is 0. `high` NULL:
 * zeros; `present` NULL: ones. It only reads the table. */
void dpf_codes_find(const dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                    const uint8_t *present, size_t n, int32_t *out);

/* The same, and words that are new get the next code; their rows, counted from `first`, are written
 * to `fresh`, which has room for all, from *news on. Returns how many rows were done: fewer than n
 * when the table has to grow, or is as large as it can be. */
size_t dpf_codes_add(dpf_codes *codes, const uint64_t *low, const uint64_t *high,
                     const uint8_t *present, size_t n, int32_t *out, int64_t first, int64_t *fresh,
                     size_t *news);

/* Puts what is in a table into empty slots of twice as many. */
void dpf_codes_move(const dpf_codes *codes, dpf_codes_slot *slots);

/* The words of pairs of codes, and whether neither is negative. */
void dpf_codes_pair(const int32_t *a, const int32_t *b, size_t n, uint64_t *low, uint8_t *present);

#endif
