/* Rows as small codes, where they end in a tree, and joint counts of a key and each attribute.
 *
 * Codes lie row by row: that of row i in attribute a is codes[i * width + a]. One of at least the
 * number of the attribute's values stands for none of them.
 *
 * Its slow twin is tests/reference/learn/decision_tree.py.
 */
#ifndef DPF_CROSS_H
#define DPF_CROSS_H

#include <stddef.h>
#include <stdint.h>

/* The values of attributes that are integers in a row, first .. first + values - 1, of `rows` rows
 * side by side, so that one loop runs over all of them. */
typedef struct {
    size_t rows;
    const double *first;
    const double *values;
} dpf_cross_limits;

/* Writes the code of each number of n rows: its distance from the first value, or how many values
 * there are if it is none of them. -1 when DPFAST_ISA asks for what cannot be had. */
int dpf_cross_codes(const double *x, size_t n, size_t width, const dpf_cross_limits *limits,
                    uint32_t *codes);

/* A node sends a row to child + its code in the attribute `split`, or to child + last if the code
 * is beyond that. A leaf is its own child, with last = 0. */
typedef struct {
    uint32_t split, child, last;
} dpf_cross_node;

/* node[i], where row i is, moves on by so many steps. */
void dpf_cross_walk(const uint32_t *codes, size_t width, size_t n, const dpf_cross_node *nodes,
                    size_t steps, uint32_t *node);

/* key[i] = slot[node[i]] * classes + label[i], or UINT32_MAX for a row without a label among the
 * classes, and for a node whose slot is UINT32_MAX. */
void dpf_cross_keys(const uint32_t *node, const uint32_t *label, size_t n, const uint32_t *slot,
                    uint32_t classes, uint32_t *key);

/* For each row and attribute a adds 1 to the count at code * (keys + 1) + key of a's table, where a
 * code beyond values[a] is values[a], and a key beyond keys is keys. Tables, of (values[a] + 1)
 * (keys + 1) counts, lie one after the other, and have less than 2^32 together. -1 as above. */
int dpf_cross_count(const uint32_t *codes, size_t width, size_t n, const uint32_t *key,
                    uint32_t keys, const uint32_t *values, int64_t *counts);

#endif
