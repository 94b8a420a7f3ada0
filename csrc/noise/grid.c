#include "noise/grid.h"

#include <string.h>

#include "core/bits.h"
#include "core/isa.h"

/* The segment of row 0: the last one below DPF_GRID_OCTAVE. Every smaller k has this row, too. */
#define DPF_GRID_FIRST ((int64_t)((1023 + DPF_GRID_OCTAVE) << DPF_GRID_SPLIT) - 1)
#define DPF_GRID_FLOOR ((double)((UINT64_C(1) << DPF_GRID_OCTAVE) - 1))
#define DPF_GRID_TOP 9223372036854774784.0 /* the largest double below 2^63 */

/* The rounding error of y, with u = 2^-53: u |y| for ratio * z, and u (|y| + 1/2) for the sum with
 * frac; y is at most 1/2 from r. The rest of these constants covers the rounding of the bound
 * itself. For |y| >= 2^51, where nearest() does not hold, e is at least 1/2. */
#define Y_ERROR 0x1.004p-52
#define Y_FLOOR 0x1p-52

/* The rounding error of gamma: d = |y| - centre has an error of u (centre + |d|), so gamma = d^2 h
 * has one of 2 u centre |d| h + 5 u gamma. The rest of these constants covers the difference from z
 * and the rounding of the bound itself. */
#define GAMMA_ERROR 0x1p-50
#define GAMMA_SLOPE 0x1p-51
#define GAMMA_FLOOR 0x1p-60

static inline double magnitude(double x)
{
    return double_of(bits_of(x) & ~(UINT64_C(1) << 63));
}

/* Returns the double nearest to k < 2^63. The two halves of k become the low bits of doubles with
 * the exponents 2^84 and 2^52, so only the last sum rounds. Unlike a conversion, this vectorises on
 * every instruction set. */
static inline double to_double(uint64_t k)
{
    double high = double_of((k >> 32) | UINT64_C(0x4530000000000000)) - 0x1.00000001p84;
    return high + double_of((k & 0xffffffff) | UINT64_C(0x4330000000000000));
}

/* Returns the nearest integer, ties to even, for |y| < 2^51. */
static inline double nearest(double y)
{
    return (y + 0x1.8p52) - 0x1.8p52;
}

/* Returns an integer |r| < 2^51 as int64. */
static inline int64_t to_integer(double r)
{
    return (int64_t)(bits_of(r + 0x1.8p52) - bits_of(0x1.8p52));
}

/* Returns an integer |y| < 2^51 as a double. */
static inline double to_real(int64_t y)
{
    return double_of((uint64_t)y + bits_of(0x1.8p52)) - 0x1.8p52;
}

static void wipe(void *p, size_t bytes)
{
    volatile uint64_t *word = (volatile uint64_t *)p;
    for (size_t i = 0; i < bytes / sizeof *word; i++)
        word[i] = 0;
}

#define DPF_BODY "noise/grid_body.h"
#include "core/each_isa.h"

size_t dpf_grid_fill(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                     const dpf_grid_input *in, double *out, size_t from, size_t n, int64_t *lane,
                     uint64_t *word, size_t room, size_t *found)
{
    return DPF_CHOSEN(grid)(rng, given, table, in, out, from, n, lane, word, room, found);
}

size_t dpf_grid_integers(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table, double ratio,
                         double frac, int64_t *out, size_t from, size_t n, int64_t *lane, uint64_t *word,
                         size_t room, size_t *found)
{
    return DPF_CHOSEN(integers)(rng, given, table, ratio, frac, out, from, n, lane, word, room, found);
}

size_t dpf_grid_accept(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table, const int64_t *y,
                       double centre, double half_precision, uint64_t *drawn, uint8_t *keep, size_t n)
{
    return DPF_CHOSEN(accept)(rng, given, table, y, centre, half_precision, drawn, keep, n);
}
