/* A step of a perceptron. The lanes of a vector are rows. */
#include "learn/coordinates_body.h"

/* Rounds the coordinates of rows to integers z, after multiplying them by a factor for each row
 * unless `factor` is NULL. Writes bias + sum of w z to `side`. */
static void DPF_NAME(margin_sides)(const dpf_margin_model *model, double *z, const double *factor,
                                   double *side)
{
    for (size_t r = 0; r < B; r++)
        side[r] = model->bias;
    for (size_t j = 0; j < model->place.width; j++) {
        const VEC w = ALL(model->w[j]), magic = ALL(MAGIC);
        double *column = z + j * B;
        for (size_t r = 0; r < B; r += LANES) {
            VEC v = DPF_NAME(vec_load)(column + r), s = DPF_NAME(vec_load)(side + r);
            if (factor)
                v *= DPF_NAME(vec_load)(factor + r);
            v = (v + magic) - magic;
            s += w * v;
            memcpy(column + r, &v, sizeof v);
            memcpy(side + r, &s, sizeof s);
        }
    }
}

/* Writes the factor that shortens a row longer than `length`, and 1 for other rows. */
static void DPF_NAME(margin_factors)(const double *z, size_t width, double length, double *factor)
{
    for (size_t r = 0; r < B; r++)
        factor[r] = 0;
    for (size_t j = 0; j < width; j++)
        for (size_t r = 0; r < B; r++)
            factor[r] += z[j * B + r] * z[j * B + r];
    for (size_t r = 0; r < B; r++)
        factor[r] = factor[r] > length * length ? length / sqrt(factor[r]) : 1;
}

static int DPF_NAME(margin_rows)(const double *rows, const double *labels, size_t n,
                                 const dpf_margin_model *model, double *sums, double *scratch,
                                 dpf_margin_found *found)
{
    const size_t width = model->place.width;
    const int cut = model->length > 0;
    double *z = scratch, *odd = z + width * B, *factor = odd + B, *side = factor + B, *y = side + B;
    double *totals = y + B; /* LANES partial sums for each column */
    VEC wrong = {0}, missing = {0}, total = {0};
    memset(totals, 0, width * LANES * sizeof *totals);
    for (size_t at = 0; at < n; at += B) {
        const size_t here = n - at < B ? n - at : B;
        const double *x = rows + at * width;
        if (n - at >= 3 * B)
            dpf_fetch(x + 2 * B * width, B * width);
        DPF_NAME(place_turn)(x, here, width, z);
        DPF_NAME(place_block)(&model->place, z, odd);
        if (cut)
            DPF_NAME(margin_factors)(z, width, model->length, factor);
        DPF_NAME(margin_sides)(model, z, cut ? factor : NULL, side);
        DPF_NAME(place_turn)(labels + at, here, 1, y);
        for (size_t r = here; r < B; r++)
            side[r] = -1, odd[r] = 0; /* unused rows of the block count as right, with class -1 */
        for (size_t r = 0; r < B; r += LANES) {
            const VEC none = {0}, one = ALL(1.0), gone = DPF_NAME(vec_load)(odd + r);
            VEC label = DPF_NAME(vec_load)(y + r);
            label = PICK(label > none, one, -one);
            label = PICK(label * DPF_NAME(vec_load)(side + r) > none, none, label);
            if (model->skip) {
                label = PICK(gone > none, none, label);
                missing += gone;
            }
            wrong += label * label, total += label;
            memcpy(y + r, &label, sizeof label);
        }
        for (size_t j = 0; j < width; j++) {
            VEC sum = DPF_NAME(vec_load)(totals + j * LANES);
            for (size_t r = 0; r < B; r += LANES)
                sum += DPF_NAME(vec_load)(z + j * B + r) * DPF_NAME(vec_load)(y + r);
            memcpy(totals + j * LANES, &sum, sizeof sum);
        }
    }
    memcpy(y, &wrong, sizeof wrong);
    memcpy(odd, &missing, sizeof missing);
    memcpy(side, &total, sizeof total);
    for (size_t l = 0; l < LANES; l++) {
        found->wrong += (size_t)y[l], found->missing += (size_t)odd[l], found->labels += side[l];
        for (size_t j = 0; j < width; j++)
            sums[j] += totals[j * LANES + l];
    }
    return 0;
}

#include "core/vector_end.h"
#undef B
