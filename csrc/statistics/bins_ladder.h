/* Float32 rows to bins by a search in registers: up to LADDER_MOST edges lie in vectors, where one
 * instruction looks up those of 16 rows. To be included where code for AVX-512 may be compiled.
 *
 * The edges are in 32 groups. A search among the last ones of the groups finds the group of a row,
 * and comparisons with the others of this group how many edges are at or below it. Behind the edges
 * lie NaNs, which are at or below nothing.
 *
 * An edge is replaced by the least float32 at or above it: a float32 is at or above both or
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
#define RUNGS 5 /* steps of a search among 32 */
#define LANES 16

typedef struct {
    float rung[RUNGS][2 * LANES]; /* what a row that has come to j meets in steps of 16, 8, 4, 2, 1 */
    float inner[7][2 * LANES];    /* the edges of group j but the last one */
    size_t group;                 /* edges of a group: 4 or 8 */
} ladder;

static float least_at_or_above(double x)
{
    const float nearest = (float)x;
    return nearest < x ? nextafterf(nearest, INFINITY) : nearest;
}

/* The edges between steps, of which there is one for each number of edges at or below a row: 0 is
 * below all, then comes bin 0, and so on; with `exact`, each bin is followed by what lies between
 * it and the next. 0 if there are too many. */
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

/* The bin of a step; axis->bins if it is none. */
static uint32_t ladder_bin(const dpf_bins_axis *axis, uint32_t place)
{
    const uint32_t bin = axis->exact ? place / 2 : place - 1;
    const int inside = axis->exact ? place % 2 == 1 : place > 0;
    return inside && bin < axis->bins ? bin : axis->bins;
}

DPF_BEGIN_AVX512
/* Steps of n rows; the array has room for the next multiple of LANES. */
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
