/* The ranks of a window of integers, in place: after dpf_order_window(x, n, from, to) the numbers
 * x[from .. to) are those that sorting would put there, ascending. Expected linear time in n, and
 * never more than n log n: what does not divide well is sorted by heaps. */
#ifndef DPF_GROUPS_ORDER_H
#define DPF_GROUPS_ORDER_H

#include <stddef.h>
#include <stdint.h>

void dpf_order_window(int32_t *x, size_t n, size_t from, size_t to);

#endif
