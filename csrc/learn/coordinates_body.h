/* Coordinates of a block of rows; see learn/coordinates.h. The lanes of a vector are rows, so each
 * row has the same operations in the same order on all paths. */
#include "core/vector.h"
#define B DPF_PLACE_BLOCK

/* Writes the numbers of `here` rows column by column, and 0 for the other rows of the block. */
static void DPF_NAME(place_turn)(const double *x, size_t here, size_t width, double *z)
{
    if (here < B)
        memset(z, 0, width * B * sizeof *z);
    size_t r = 0;
    for (; r + 4 <= here; r += 4) { /* four rows of a column are one store */
        const double *a = x + r * width, *b = a + width, *c = b + width, *d = c + width;
        for (size_t j = 0; j < width; j++) {
            const double four[4] = {a[j], b[j], c[j], d[j]};
            memcpy(z + j * B + r, four, sizeof four);
        }
    }
    for (; r < here; r++)
        for (size_t j = 0; j < width; j++)
            z[j * B + r] = x[r * width + j];
}

/* Replaces the numbers in `z` by coordinates. `odd` becomes 1 for a row with a NaN, else 0. */
static void DPF_NAME(place_block)(const dpf_place *place, double *z, double *odd)
{
    for (size_t r = 0; r < B; r++)
        odd[r] = 0;
    for (size_t j = 0; j < place->width; j++) {
        const VEC lo = ALL(place->lo[j]), hi = ALL(place->hi[j]), fill = ALL(place->fill[j]);
        const VEC middle = ALL(place->middle[j]), scale = ALL(place->scale[j]);
        double *column = z + j * B;
        for (size_t r = 0; r < B; r += LANES) {
            VEC v = DPF_NAME(vec_load)(column + r), some = DPF_NAME(vec_load)(odd + r);
            some = PICK(v == v, some, ALL(1.0));
            v = PICK(v == v, v, fill);
            v = PICK(v > lo, v, lo);
            v = PICK(v < hi, v, hi);
            v = (v - middle) * scale;
            memcpy(column + r, &v, sizeof v);
            memcpy(odd + r, &some, sizeof some);
        }
    }
}
