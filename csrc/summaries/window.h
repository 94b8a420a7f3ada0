/* Passes that find a window of order statistics without sorting.
 *
 * The bracket pass reads values once, counts those below, at and above two pivots, and collects the
 * ones strictly between. Values equal to a pivot are only counted, so heavy ties take no memory;
 * NaN is counted as itself. The counts go on when the output is full, so a pass is never without
 * result.
 *
 * The byte pass counts the values up to each of a few thresholds: a type of 256 values needs no
 * more.
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
    uint64_t between; /* lo < x < hi; the first `kept` of them are in the output */
    uint64_t at_hi;   /* x == hi and hi != lo */
    uint64_t above;   /* x > hi */
    uint64_t nan;
    uint64_t kept;
} dpf_window_counts;

/* Fills tables. To be called once, before any pass. */
void dpf_window_init(void);

/* One pass over n values of `kind`. `pivots` are lo <= hi, neither NaN; `out` has room for `room`
 * values. Pivots and output are of the kind itself, or int32 for the 16-bit kinds (the values are
 * widened as they are read); bytes have passes of their own. Returns 0, or -1 when dpf_isa() has no
 * path or the kind is another. */
int dpf_window_pass(int kind, const void *x, size_t n, const void *pivots, void *out, size_t room,
                    dpf_window_counts *counts);

/* The same for `brackets` pairs of pivots, each with its own output, room and counts: a stretch of
 * values at a time goes through all of them while it is in the first-level cache. */
int dpf_window_passes(int kind, const void *x, size_t n, size_t brackets, const void *const *pivots,
                      void *const *outs, const size_t *rooms, dpf_window_counts *counts);

/* counts[j] = how many bytes b have (b ^ flip) <= first + j, for j < thresholds. `flip` is 0 for
 * unsigned bytes and 0x80 for signed ones, which it puts in order. Returns as above. */
int dpf_window_bytes(const uint8_t *x, size_t n, uint8_t flip, uint8_t first, size_t thresholds,
                     uint64_t *counts);

/* counts[v] = how many bytes b have (b ^ flip) == v, for all 256 v. */
void dpf_window_histogram(const uint8_t *x, size_t n, uint8_t flip, uint64_t counts[256]);

#endif
