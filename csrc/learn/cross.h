/* Rows as small codes, their walk through a tree, and joint counts of a key and each attribute.
 *
 * The code of row i in attribute a is codes[i * width + a]. A code that is at least the number of
 * the attribute's values means that the row has none of them.
 *
 * Its slow twin is tests/reference/learn/decision_tree.py.
 */
#ifndef DPF_CROSS_H
#define DPF_CROSS_H

#include <stddef.h>
#include <stdint.h>

/* The values of attributes, which are consecutive integers first .. first + values - 1. They are
 * repeated for `rows` rows, so that one loop runs over several rows. */
typedef struct {
    size_t rows;
    const double *first;
    const double *values;
} dpf_cross_limits;

/* Writes the code of each number of n rows: its distance from the first value, or the number of
 * values if it is none of them. Returns 0, or -1 when dpf_isa() has no path. */
int dpf_cross_codes(const double *x, size_t n, size_t width, const dpf_cross_limits *limits,
                    uint32_t *codes);

/* At a node a row goes to the node child + min(code, last), with its code in the attribute `split`.
 * A leaf is its own child, with last = 0. */
typedef struct {
    uint32_t split, child, last;
} dpf_cross_node;

/* Moves each row by `steps` steps; node[i] is the node of row i. */
void dpf_cross_walk(const uint32_t *codes, size_t width, size_t n, const dpf_cross_node *nodes,
                    size_t steps, uint32_t *node);

/* key[i] = slot[node[i]] * classes + label[i]. It is UINT32_MAX if the label is no class, or the
 * slot of the node is UINT32_MAX. */
void dpf_cross_keys(const uint32_t *node, const uint32_t *label, size_t n, const uint32_t *slot,
                    uint32_t classes, uint32_t *key);

/* For each row and attribute a, adds 1 to entry code * (keys + 1) + key of the table of a. A code
 * above values[a] counts as values[a], and a key above `keys` as `keys`. The table of a has
 * (values[a] + 1) (keys + 1) counts. The tables follow one another, and have less than 2^32 counts
 * in all. Returns 0, or -1 when dpf_isa() has no path. */
int dpf_cross_count(const uint32_t *codes, size_t width, size_t n, const uint32_t *key,
                    uint32_t keys, const uint32_t *values, int64_t *counts);

#endif
