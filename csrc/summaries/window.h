/* Passes for a window of order statistics, without a sort.
 *
 * The bracket pass reads all values once. It counts those below, at and above two pivots, and
 * collects those strictly between. Values equal to a pivot are only counted, so many ties take no
 * memory. A NaN is counted separately. If the output is full, the counts go on, so a pass always
 * has a result.
 *
 * The byte pass counts the values up to each of a few thresholds. For a type of 256 values that is
 * enough.
 *
 * Its slow twin is tests/reference/summaries/order.py.
 */
#ifndef DPF_WINDOW_H
#define DPF_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "core/dtype.h"

typedef struct {
    uint64_t below;   /* x < lo */
    uint64_t at_lo;   /* x == lo */
    uint64_t between; /* lo < x < hi; the output has the first `kept` of them */
    uint64_t at_hi;   /* x == hi and hi != lo */
    uint64_t above;   /* x > hi */
    uint64_t nan;
    uint64_t kept;
} dpf_window_counts;

/* Fills tables. It must be called once, before any pass. */
void dpf_window_init(void);

/* One bracket pass over n values of `kind`. `pivots` are lo <= hi, neither NaN; `out` has room for
 * `room` values. Pivots and output are of the same kind, or int32 for kinds of 16 bits, which are
 * widened when they are read. Bytes have other passes. Returns 0, or -1 when dpf_isa() has no path
 * or the kind is not supported. */
int dpf_window_pass(int kind, const void *x, size_t n, const void *pivots, void *out, size_t room,
                    dpf_window_counts *counts);

/* The same for `brackets` pairs of pivots, each with its own output, room and counts. A block of
 * values is compared with all of them while it is in the first-level cache. */
int dpf_window_passes(int kind, const void *x, size_t n, size_t brackets, const void *const *pivots,
                      void *const *outs, const size_t *rooms, dpf_window_counts *counts);

/* counts[j] becomes the number of bytes b with (b ^ flip) <= first + j, for j < thresholds. `flip`
 * is 0 for unsigned bytes, and 0x80 for signed bytes, which maps them to the order of unsigned
 * ones. Returns as dpf_window_pass. */
int dpf_window_bytes(const uint8_t *x, size_t n, uint8_t flip, uint8_t first, size_t thresholds,
                     uint64_t *counts);

/* counts[v] becomes the number of bytes b with (b ^ flip) == v, for all 256 v. */
void dpf_window_histogram(const uint8_t *x, size_t n, uint8_t flip, uint64_t counts[256]);

#endif
