/* Contribution bounding: which rows of each privacy unit count. At most `groups` groups of a unit
 * count, and in each at most `rows` rows.
 *
 * Each group of a unit has the hash of (id, group), and each row the hash of its number:
 * SipHash-2-4 under a secret key (tables/keys.h). The groups with the least hashes count, and in
 * each of them the rows with the least hashes. Ties are decided by the group's code and the row's
 * number. So the choice for a unit depends on its own rows and their numbers alone. The order of
 * the rows, their division into chunks and the number of threads do not change it.
 *
 *   hash of an id: of its words
 *   hash of a group: of (hash of the id, code)
 *   hash of a row: of (number, 2^63)
 *
 * The codes of keys may depend on which thread was first. Then `names` has codes that do not depend
 * on it, and these are hashed.
 *
 * Rows are split into parts by the top bits of the hash of their ids, so a part has all rows of its
 * units. A record of a row is `words` 64-bit words: the low word of its id, its number, its code,
 * and if there are four, the high word of its id.
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
#define DPF_BOUND_NARROW 3 /* the number of words of a record */
#define DPF_BOUND_WIDE 4

/* Writes the part of each row to `part`, and adds it to the counts of the parts. For a row whose
 * code is negative or whose `present` is 0 it is DPF_BOUND_PARTS, which is not counted. */
void dpf_bound_count(const dpf_keys_key *key, const uint64_t *low, const uint64_t *high,
                     const uint8_t *present, const int32_t *codes, size_t n, uint16_t *part,
                     uint32_t *counts);
/* Writes the records of the rows, whose numbers are `start` and following, to their parts. The next
 * record of a part is at[part] of `out`, which is increased. */
void dpf_bound_place(const uint16_t *part, const uint64_t *low, const uint64_t *high,
                     const int32_t *codes, uint64_t start, size_t n, uint32_t *at, uint64_t *out);

/* An array of records. */
typedef struct {
    const uint64_t *records;
    size_t n, words;
} dpf_bound_run;

typedef struct {
    dpf_keys_key key;
    uint64_t groups, rows; /* how many of a unit count, at least 1 */
    uint64_t mask;         /* the bits of hashes in use: all, except in tests of ties */
    const int32_t *names;  /* the code to hash instead of each code below `named` */
    uint64_t named;
} dpf_bound;

/* Returns 1 if the number of any row is not below `rows`, else 0. */
int dpf_bound_within(const dpf_bound_run *runs, size_t count, uint64_t rows);

/* Writes 1 to `marks` at the number of each row that counts. The runs together have all rows of
 * their units. Returns 0, or -1 if there is no memory. */
int dpf_bound_mark(const dpf_bound *bound, const dpf_bound_run *runs, size_t count, uint8_t *marks);

#endif
