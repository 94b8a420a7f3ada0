/* Float32 rows to bins by a search in registers. Up to LADDER_MOST edges are in vectors, where one
 * instruction looks up an edge for each of 16 rows. To be included only where code for AVX-512 can
 * be compiled.
 *
 * The edges are in 32 groups. A binary search among the last edges of the groups finds the group of
 * a row. Comparisons with the other edges of the group count the edges at or below the row (its
 * step). Unused edges are NaN, which is at or below no row.
 *
 * An edge is replaced by the least float32 at or above it: a float32 row is at or above both or
 * neither.
 */
#ifndef DPF_BINS_LADDER_H
#define DPF_BINS_LADDER_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "statistics/bins.h"
#include "core/isa.h"

#define LADDER_MOST 255
#define RUNGS 5 /* a binary search among 32 has 5 comparisons */
#define LANES 16

typedef struct {
    float rung[RUNGS][2 * LANES]; /* the edge for comparison r of a search that has reached j */
    float inner[7][2 * LANES];    /* the edges of group j without the last one */
    size_t group;                 /* the number of edges in a group, 4 or 8 */
} ladder;

static float least_at_or_above(double x)
{
    const float nearest = (float)x;
    return nearest < x ? nextafterf(nearest, INFINITY) : nearest;
}

/* Computes the edges between steps. Step 0 is below all edges, step 1 is bin 0, and so on. With
 * `exact`, each bin is followed by a step between it and the next bin. Returns 0 if there are too
 * many. */
static int ladder_make(ladder *rungs, const dpf_bins_axis *axis)
{
    float edges[LADDER_MOST + 1];
    size_t count = 0;
    if ((axis->exact ? 2 * (size_t)axis->bins : (size_t)axis->bins + 1) > LADDER_MOST)
        return 0;
    for (uint32_t k = 0; k < axis->bins; k++) {
        edges[count++] = least_at_or_above(axis->edges[k]);
        if (axis->exact)
            edges[count++] = least_at_or_above(nextafter(axis->edges[k], INFINITY));
    }
    if (!axis->exact)
        edges[count++] = least_at_or_above(nextafter(axis->hi, INFINITY));
    rungs->group = count < 128 ? 4 : 8;
    while (count <= LADDER_MOST)
        edges[count++] = NAN;
    for (size_t j = 0; j < 2 * LANES; j++) {
        for (size_t r = 0; r < RUNGS; r++) {
            const size_t met = j + (LANES >> r) - 1;
            rungs->rung[r][j] = met < 2 * LANES ? edges[rungs->group * (met + 1) - 1] : NAN;
        }
        for (size_t k = 0; k + 1 < rungs->group; k++)
            rungs->inner[k][j] = edges[rungs->group * j + k];
    }
    return 1;
}

/* Returns the bin of a step, or axis->bins if the step is no bin. */
static uint32_t ladder_bin(const dpf_bins_axis *axis, uint32_t place)
{
    const uint32_t bin = axis->exact ? place / 2 : place - 1;
    const int inside = axis->exact ? place % 2 == 1 : place > 0;
    return inside && bin < axis->bins ? bin : axis->bins;
}

DPF_BEGIN_AVX512
/* Writes the steps of n rows. There is room for n rounded up to a multiple of LANES. */
static inline __attribute__((always_inline)) void ladder_rows(const ladder *rungs, const float *x,
                                                              size_t n, uint8_t *place,
                                                              const size_t group)
{
    const __m512i one = _mm512_set1_epi32(1);
    __m512 rung[RUNGS][2], inner[7][2];
    for (size_t h = 0; h < 2; h++) {
        for (size_t r = 0; r < RUNGS; r++)
            rung[r][h] = _mm512_loadu_ps(rungs->rung[r] + LANES * h);
        for (size_t k = 0; k + 1 < group; k++)
            inner[k][h] = _mm512_loadu_ps(rungs->inner[k] + LANES * h);
    }
    for (size_t i = 0; i < n; i += LANES) {
        const __mmask16 here = (__mmask16)(n - i < LANES ? (1u << (n - i)) - 1 : 0xffff);
        const __m512 v = _mm512_maskz_loadu_ps(here, x + i);
        __m512i at = _mm512_setzero_si512();
        for (size_t r = 0; r < RUNGS; r++) {
            const __m512 edge = _mm512_permutex2var_ps(rung[r][0], at, rung[r][1]);
            const __mmask16 ge = _mm512_cmp_ps_mask(v, edge, _CMP_GE_OQ);
            at = _mm512_mask_add_epi32(at, ge, at, _mm512_set1_epi32(LANES >> r));
        }
        __m512i found = _mm512_slli_epi32(at, group == 4 ? 2 : 3);
        for (size_t k = 0; k + 1 < group; k++) {
            const __m512 edge = _mm512_permutex2var_ps(inner[k][0], at, inner[k][1]);
            const __mmask16 ge = _mm512_cmp_ps_mask(v, edge, _CMP_GE_OQ);
            found = _mm512_mask_add_epi32(found, ge, found, one);
        }
        _mm_storeu_si128((__m128i *)(place + i), _mm512_cvtepi32_epi8(found));
    }
}

static void ladder_block(const ladder *rungs, const float *x, size_t n, uint8_t *place)
{
    if (rungs->group == 4)
        ladder_rows(rungs, x, n, place, 4);
    else
        ladder_rows(rungs, x, n, place, 8);
}
DPF_END

#endif
