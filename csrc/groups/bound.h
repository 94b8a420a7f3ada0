/* Contribution bounding: which rows of each privacy unit count, of at most `groups` groups and in
 * each at most `rows` rows.
 *
 * A unit keeps the groups whose hash of (id, group) is least, and in each the rows whose hash of
 * the row's number is least: SipHash-2-4 under a secret key (tables/keys.h), ties by the group's
 * code and by the row's number. So what is kept of a unit depends on that unit's rows and numbers
 * alone, and no order, cut or number of threads decides it.
 *
 *   hash of an id: of its words.  Of a group: of (hash of the id, code).  Of a row: of (number, 2^63).
 *
 * Codes that keys got as threads met them have names, in an order that no thread has a say in.
 *
 * Rows are split into parts by the top bits of the hash of their ids; a part, or several side by
 * side, holds all rows of its units. A record of a row is `words` 64-bit words: the low word of its
 * id, its number, its code, and if there are four, the high word of its id.
 *
 * Its slow twin is tests/reference/groups/bounding.py.
 */
#ifndef DPF_GROUPS_BOUND_H
#define DPF_GROUPS_BOUND_H

#include <stddef.h>
#include <stdint.h>

#include "tables/keys.h"

#define DPF_BOUND_BITS 10
#define DPF_BOUND_PARTS (1 << DPF_BOUND_BITS)
#define DPF_BOUND_NARROW 3 /* words of a record */
#define DPF_BOUND_WIDE 4

/* Writes the part of each row to `part`, DPF_BOUND_PARTS for a row whose code is negative or whose
 * `present` is 0, and adds to the counts of the parts. */
void dpf_bound_count(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high,
                     const uint8_t *present, const int32_t *codes, size_t n, uint16_t *part,
                     uint32_t *counts);
/* Writes the records of the rows from number `start` on to their parts, which begin at record
 * at[part] of `out`; `at` moves on. */
void dpf_bound_place(const uint16_t *part, const uint64_t *low, const uint64_t *high,
                     const int32_t *codes, uint64_t start, size_t n, uint32_t *at, uint64_t *out);

/* Some records. */
typedef struct {
    const uint64_t *records;
    size_t n, words;
} dpf_bound_run;

typedef struct {
    dpf_keys_key key;
    uint64_t groups, rows; /* that a unit keeps: at least 1 */
    uint64_t mask;         /* of hashes: all bits, but in tests of ties */
    const int32_t *names;  /* what is hashed for each code below `named`; others are by themselves */
    uint64_t named;
} dpf_bound;

/* 1 if a row's number is not below `rows`, else 0. */
int dpf_bound_within(const dpf_bound_run *runs, size_t count, uint64_t rows);

/* Writes 1 to `marks` at the number of each row of some units that is kept. -1: no memory. */
int dpf_bound_mark(const dpf_bound *bound, const dpf_bound_run *runs, size_t count, uint8_t *marks);

#endif
