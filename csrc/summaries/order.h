/* A window of order statistics: the numbers that sorting would put at indices [from, to). The
 * expected time is linear in n, and it is never more than n log n: numbers that do not divide well
 * are sorted by a heap.
 *
 * Its slow twin is tests/reference/summaries/order.py.
 */
#ifndef DPF_ORDER_H
#define DPF_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

/* Writes the window to `out`, ascending, unless there are NaN: then *nan is at least 1 and at most
 * their number. Returns 0, -1 for a kind of one or two bytes, or -2 if there is no memory. */
int dpf_order_part(int kind, const void *x, size_t n, size_t from, size_t to, void *out, size_t *nan);

/* The same in place, without NaN: x[from .. to - 1] become what sorting would put there. */
void dpf_order_i32(int32_t *x, size_t n, size_t from, size_t to);

#endif
