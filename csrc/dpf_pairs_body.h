/* Sums of products for one instruction set. The including file defines DPF_SUFFIX, which ends the
 * names, and DPF_VECTOR. */
#include "dpf_place_body.h"

/* Adds the products of a column with `many` others, which lie one after the other. */
#define ADD(many)                                                                                   \
    {                                                                                               \
        VEC s[many];                                                                                \
        for (int k = 0; k < many; k++)                                                              \
            s[k] = DPF_NAME(place_load)(found + k * LANES);                                         \
        for (size_t r = 0; r < B; r += LANES) {                                                     \
            const VEC v = DPF_NAME(place_load)(z + i * B + r);                                      \
            for (int k = 0; k < many; k++)                                                          \
                s[k] += v * DPF_NAME(place_load)(z + (j + k) * B + r);                              \
        }                                                                                           \
        memcpy(found, s, sizeof s);                                                                 \
        found += many * LANES;                                                                      \
    }

/* Adds the sums of all columns of a block, then of all products, each in LANES parts. */
static void DPF_NAME(pairs_add)(const double *z, size_t width, double *found)
{
    for (size_t j = 0; j < width; j++, found += LANES) {
        VEC s = DPF_NAME(place_load)(found);
        for (size_t r = 0; r < B; r += LANES)
            s += DPF_NAME(place_load)(z + j * B + r);
        memcpy(found, &s, sizeof s);
    }
    for (size_t i = 0; i < width; i++) {
        size_t j = i;
        for (; j + 4 <= width; j += 4)
            ADD(4)
        for (; j < width; j++)
            ADD(1)
    }
}

/* Coordinates to integers; 0 for rows that do not count. */
static void DPF_NAME(pairs_round)(double *z, size_t width, const double *counts)
{
    const VEC magic = ALL(MAGIC);
    for (size_t j = 0; j < width; j++)
        for (size_t r = 0; r < B; r += LANES) {
            VEC v = DPF_NAME(place_load)(z + j * B + r);
            v = (v + magic) - magic;
            if (counts)
                v *= DPF_NAME(place_load)(counts + r);
            memcpy(z + j * B + r, &v, sizeof v);
        }
}

static int DPF_NAME(pairs_rows)(const double *rows, const double *labels, size_t n,
                                const dpf_place *place, int skip, double *sums, double *products,
                                double *scratch, size_t *missing)
{
    const size_t width = place->width, own = width - 1, all = width * (width + 3) / 2;
    double *z = scratch, *odd = z + width * B, *found = odd + B;
    memset(found, 0, all * LANES * sizeof *found);
    for (size_t at = 0; at < n; at += B) {
        const size_t here = n - at < B ? n - at : B;
        const double *x = rows + at * own;
        size_t some = 0;
        if (n - at >= 3 * B)
            dpf_fetch(x + 2 * B * own, B * own);
        DPF_NAME(place_turn)(x, here, own, z);
        DPF_NAME(place_turn)(labels + at, here, 1, z + own * B);
        DPF_NAME(place_block)(place, z, odd);
        for (size_t r = 0; r < here; r++)
            some += odd[r] != 0;
        *missing += some;
        if (here < B || (some && skip)) {
            for (size_t r = 0; r < B; r++)
                odd[r] = r < here && !(skip && odd[r] != 0);
            DPF_NAME(pairs_round)(z, width, odd);
        } else {
            DPF_NAME(pairs_round)(z, width, NULL);
        }
        DPF_NAME(pairs_add)(z, width, found);
    }
    for (size_t i = 0; i < all; i++) {
        double *to = i < width ? sums + i : products + (i - width);
        for (size_t l = 0; l < LANES; l++)
            *to += found[i * LANES + l];
    }
    return 0;
}

#undef ADD
#include "dpf_place_end.h"
