/* The ranks of a window of numbers, in place: after dpf_order_window(kind, x, n, from, to) the
 * numbers x[from .. to) are those that sorting would put there, ascending. Expected linear time in
 * n, and never more than n log n: what does not divide well is sorted by heaps. No number is NaN. */
#ifndef DPF_ORDER_H
#define DPF_ORDER_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

/* Returns 0, or -1 for a kind of one or two bytes. */
int dpf_order_window(int kind, void *x, size_t n, size_t from, size_t to);

/* The same for one kind. */
void dpf_order_i32(int32_t *x, size_t n, size_t from, size_t to);

/* Puts what is NaN at the end; *here is how many numbers are before it. Returns as above. */
int dpf_order_numbers(int kind, void *x, size_t n, size_t *here);

#endif
