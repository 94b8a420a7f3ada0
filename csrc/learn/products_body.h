/* Sums of products. The lanes of a vector are columns. The last vector of a row reads into the next
 * row, and these sums are not used. */
#include "core/vector.h"

/* Adds the products of `high` factors of each row (1, 2, 4 or 8) with the columns of one vector.
 * The factors of a row are `step` after those of the row before. There are eight independent sums,
 * so no addition waits for the one before. */
#define TILE(high, factors, step, to)                                                              \
    {                                                                                              \
        const double *f = (factors);                                                               \
        VEC s[8] = {0};                                                                            \
        for (size_t r = 0; r < B; r += 8 / (high))                                                 \
            for (size_t u = 0; u < 8 / (high); u++) {                                              \
                const VEC v = DPF_NAME(vec_load)(z + (r + u) * width + j);                         \
                for (size_t k = 0; k < (high); k++)                                                \
                    s[u * (high) + k] += f[(r + u) * (step) + k] * v;                              \
            }                                                                                      \
        for (size_t k = 0; k < (high); k++) {                                                      \
            VEC t = DPF_NAME(vec_load)((to) + k * wide + j);                                       \
            for (size_t u = 0; u < 8 / (high); u++)                                                \
                t += s[u * (high) + k];                                                            \
            memcpy((to) + k * wide + j, &t, sizeof t);                                             \
        }                                                                                          \
    }

/* A tile is the products of eight columns with one vector of columns, from the diagonal on. The
 * last columns, if they are fewer than eight, and the labels, are multiplied with all vectors. */
static void DPF_NAME(products_add)(const double *z, size_t width, const double *labels, double *found)
{
    const size_t wide = DPF_PRODUCTS_WIDE(width), whole = width / 8 * 8, rest = width - whole;
    const double one = 1, *last = z + whole;
    for (size_t i = 0; i < whole; i += 8)
        for (size_t j = i; j < whole; j += LANES)
            TILE(8, z + i, width, found + i * wide)
    for (size_t j = 0; j < width; j += LANES) {
        double *to = found + whole * wide, *sums = found + wide * wide;
        if (rest > 4)
            TILE(8, last, width, to)
        else if (rest > 2)
            TILE(4, last, width, to)
        else if (rest == 2)
            TILE(2, last, width, to)
        else if (rest == 1)
            TILE(1, last, width, to)
        TILE(1, &one, 0, sums)
        if (labels)
            TILE(1, labels, 1, sums + wide)
    }
}

#include "core/vector_end.h"
#undef TILE
