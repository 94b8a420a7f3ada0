#include "statistics/magnitudes.h"

#include <stdlib.h>
#include <string.h>

#include "core/fetch.h"
#include "core/isa.h"
#include "summaries/quantise.h"

#define BLOCK 1024
#define TABLES 8
#define WIDE (DPF_MAGNITUDES_CELLS + 80) /* a cell has different offsets in a page in each table */
#define AHEAD 256                        /* so many rows ahead are prefetched */
#define MANY ((size_t)1 << 18)           /* from so many rows on, several tables are faster */
#define ROWS ((size_t)1 << 31) /* a counter of a table holds more than so many rows */
#define CELL 48                /* the bits of a float64 below those of its cell */
#define INFINITE 0x7ff0u       /* the cell of infinity, and of a NaN with the same upper bits */

static size_t cell(const double *rows, size_t i)
{
    uint64_t bits;
    memcpy(&bits, rows + i, sizeof bits);
    return (size_t)(bits >> CELL);
}

/* Row i is counted in table i mod 8, so that neighbouring rows of one cell do not wait for one
 * another. */
static void add(const double *rows, size_t n, uint32_t *t)
{
    size_t i = 0;
    for (; i + TABLES <= n; i += TABLES) {
        dpf_prefetch(rows + (i + AHEAD < n ? i + AHEAD : i));
        t[cell(rows, i)]++;
        t[WIDE + cell(rows, i + 1)]++;
        t[2 * WIDE + cell(rows, i + 2)]++;
        t[3 * WIDE + cell(rows, i + 3)]++;
        t[4 * WIDE + cell(rows, i + 4)]++;
        t[5 * WIDE + cell(rows, i + 5)]++;
        t[6 * WIDE + cell(rows, i + 6)]++;
        t[7 * WIDE + cell(rows, i + 7)]++;
    }
    for (; i < n; i++)
        t[cell(rows, i)]++;
}

/* Takes the NaN out of the counts, and returns their number. Every NaN is in the cell of an
 * infinity or in a cell beyond it. */
static int64_t take_nan(int kind, const void *x, size_t n, int64_t *counts)
{
    int64_t infinite[2] = {0, 0}, all = 0, nan;
    for (size_t sign = 0; sign < 2; sign++)
        for (size_t k = sign << 15 | INFINITE; k < (sign + 1) << 15; k++)
            all += counts[k], counts[k] = 0;
    if (!all)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const double v = kind == DPF_F64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
        infinite[0] += v > 0x1.fffffffffffffp1023;
        infinite[1] += v < -0x1.fffffffffffffp1023;
    }
    nan = all - infinite[0] - infinite[1];
    counts[INFINITE] = infinite[0];
    counts[1 << 15 | INFINITE] = infinite[1];
    return nan;
}

int dpf_magnitudes_count(int kind, const void *x, size_t n, int64_t *counts, int64_t *nan)
{
    double buffer[BLOCK];
    int64_t before[2];
    uint32_t *tables = NULL;
    if (!dpf_can_read(kind))
        return -1;
    if (n >= MANY && !(tables = calloc(TABLES * WIDE, sizeof *tables)))
        return -1;
    before[0] = counts[INFINITE], before[1] = counts[1 << 15 | INFINITE];
    counts[INFINITE] = counts[1 << 15 | INFINITE] = 0;
    for (size_t from = 0; from < n; from += ROWS) {
        const size_t to = n - from < ROWS ? n : from + ROWS;
        const size_t step = kind == DPF_F64 ? ROWS : BLOCK;
        for (size_t i = from; i < to; i += step) {
            const size_t here = to - i < step ? to - i : step;
            const double *rows = dpf_quantise_floats(kind, x, i, here, buffer);
            if (tables)
                add(rows, here, tables);
            else
                for (size_t j = 0; j < here; j++)
                    counts[cell(rows, j)]++;
        }
        for (size_t t = 0; tables && t < TABLES; t++)
            for (size_t k = 0; k < DPF_MAGNITUDES_CELLS; k++)
                counts[k] += tables[t * WIDE + k];
        if (tables && to < n)
            memset(tables, 0, TABLES * WIDE * sizeof *tables);
    }
    free(tables);
    *nan += take_nan(kind, x, n, counts);
    counts[INFINITE] += before[0], counts[1 << 15 | INFINITE] += before[1];
    return 0;
}
