/* The ranks of a window of numbers: what sorting would put into [from, to). Expected linear time in
 * n, and never more than n log n: what does not divide well is sorted by heaps.
 *
 * Its slow twin is tests/reference/summaries/order.py.
 */
#ifndef DPF_ORDER_H
#define DPF_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

/* Writes them to `out`, ascending, unless some numbers are NaN: then *nan is how many of those
 * there are, or at least 1 of n. Returns 0, -1 for a kind of one or two bytes, or -2 without
 * memory. */
int dpf_order_part(int kind, const void *x, size_t n, size_t from, size_t to, void *out, size_t *nan);

/* The same inside x, without NaN: its entries from .. to - 1 become what sorting puts there. */
void dpf_order_i32(int32_t *x, size_t n, size_t from, size_t to);

#endif
