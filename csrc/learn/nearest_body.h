/* A step of k-means. For scores the lanes of a vector are rows, so each row has the same operations
 * in the same order on all paths. For sums, which are exact, the lanes are columns. */
#include "core/vector.h"
#if DPF_VECTOR
#define TRUTH(a) (INT)(a)
#define BITS_OF(a) (INT)(a)
#if LANES == 2
#define ZIPPED(i) i, 2 + i
#elif LANES == 4
#define ZIPPED(i) i, 4 + i, 1 + i, 5 + i
#else
#define ZIPPED(i) i, 8 + i, 1 + i, 9 + i, 2 + i, 10 + i, 3 + i, 11 + i
#endif
#ifdef __clang__
#define ZIP(a, b, i) __builtin_shufflevector(a, b, ZIPPED(i))
#else
#define ZIP(a, b, i) __builtin_shuffle(a, b, (INT){ZIPPED(i)})
#endif
#else
#define TRUTH(a) (-(int64_t)(a))
#define BITS_OF(a) nearest_bits(a)
#define ZIP(a, b, i) (a)
#endif
#define PICK_INT(truth, a, b) (((a) & (truth)) | ((b) & ~(truth)))

enum { DPF_NAME(nearest_lanes) = LANES };

/* Clamps v, and replaces a NaN by `fill`. If that is NaN, the result is NaN. */
static inline VEC DPF_NAME(nearest_clamp)(VEC v, VEC lo, VEC hi, VEC fill)
{
    v = PICK(TRUTH(v != v), fill, v);
    v = PICK(TRUTH(v < lo), lo, v);
    return PICK(TRUTH(v > hi), hi, v);
}

/* Writes the coordinates of a block of rows, column by column. A square of LANES rows and columns
 * is transposed at a time, by log2(LANES) rounds. Each round interleaves row i with row i + LANES /
 * 2. */
static void DPF_NAME(nearest_columns)(const double *x, const dpf_nearest_model *model,
                                      const nearest_work *w)
{
    const size_t width = model->width, block = w->block;
    const VEC unit = ALL(model->unit);
    for (size_t j = 0; j < width; j += LANES) {
        const VEC lo = DPF_NAME(vec_load)(w->lo + j), hi = DPF_NAME(vec_load)(w->hi + j);
        const VEC none = DPF_NAME(vec_load)(w->none + j);
        const VEC middle = DPF_NAME(vec_load)(w->middle + j);
        for (size_t r = 0; r < block; r += LANES) {
            VEC v[LANES], z[LANES];
            for (int i = 0; i < LANES; i++) {
                v[i] = DPF_NAME(vec_load)(x + (r + i) * width + j);
                v[i] = (DPF_NAME(nearest_clamp)(v[i], lo, hi, none) - middle) * unit;
            }
            for (int times = LANES; times > 1; times /= 2) {
                for (int i = 0; i < LANES / 2; i++) {
                    z[2 * i] = ZIP(v[i], v[i + LANES / 2], 0);
                    z[2 * i + 1] = ZIP(v[i], v[i + LANES / 2], LANES / 2);
                }
                memcpy(v, z, sizeof v);
            }
            for (int i = 0; i < LANES; i++)
                memcpy(w->y + (j + i) * block + r, v + i, sizeof *v);
        }
    }
}

/* Computes the scores of `many` centres (1, 2 or 4) for 2 LANES rows, and updates the best. */
#define SCORES(many)                                                                               \
    {                                                                                              \
        VEC s[many], t[many];                                                                      \
        for (int i = 0; i < many; i++)                                                             \
            s[i] = t[i] = ALL(model->half[k + i]);                                                 \
        for (size_t j = 0; j < width; j++) {                                                       \
            const VEC a = DPF_NAME(vec_load)(y + j * block);                                       \
            const VEC b = DPF_NAME(vec_load)(y + j * block + LANES);                               \
            for (int i = 0; i < many; i++) {                                                       \
                const VEC at = ALL(model->at[(k + i) * width + j]);                                \
                s[i] -= at * a;                                                                    \
                t[i] -= at * b;                                                                    \
            }                                                                                      \
        }                                                                                          \
        for (int i = 0; i < many; i++) {                                                           \
            const INT p = TRUTH(s[i] < best), q = TRUTH(t[i] < other);                             \
            const INT number = (INT){0} + (int64_t)(k + i);                                        \
            best = PICK(p, s[i], best);                                                            \
            other = PICK(q, t[i], other);                                                          \
            first = PICK_INT(p, number, first);                                                    \
            second = PICK_INT(q, number, second);                                                  \
        }                                                                                          \
        k += many;                                                                                 \
    }

static void DPF_NAME(nearest_labels)(const dpf_nearest_model *model, const nearest_work *w)
{
    const size_t width = model->width, centres = model->centres, block = w->block;
    const int64_t start = model->skip ? (int64_t)centres : 0; /* a NaN score never replaces it */
    int64_t *label = w->label;
    for (size_t r = 0; r < block; r += 2 * LANES) {
        const double *y = w->y + r;
        VEC best = ALL(HUGE_VAL), other = best;
        INT first = (INT){0} + start, second = first;
        size_t k = 0;
        while (k + 4 <= centres)
            SCORES(4)
        if (k + 2 <= centres)
            SCORES(2)
        if (k < centres)
            SCORES(1)
        memcpy(label + r, &first, sizeof first);
        memcpy(label + r + LANES, &second, sizeof second);
    }
}

/* Adds rows to the sums of their centres. The last vector of a row reads into the next row; the
 * limits there are 0, so these lanes add 0. */
static void DPF_NAME(nearest_add)(const double *x, size_t here, size_t ahead, size_t width,
                                  const nearest_work *w)
{
    const VEC magic = ALL(MAGIC);
    const nearest_work work = *w; /* a copy, so that the compiler knows that no store changes it */
    for (size_t r = 0; r < here; r++, x += width) {
        int64_t *sums = work.sums + (size_t)work.label[r] * work.wide;
        work.counts[work.label[r]]++;
        dpf_fetch(x + ahead, width);
        for (size_t j = 0; j < width; j += LANES) {
            const VEC lo = DPF_NAME(vec_load)(work.lo + j), hi = DPF_NAME(vec_load)(work.hi + j);
            const VEC fill = DPF_NAME(vec_load)(work.fill + j);
            const VEC scale = DPF_NAME(vec_load)(work.scale + j);
            const VEC v = DPF_NAME(nearest_clamp)(DPF_NAME(vec_load)(x + j), lo, hi, fill);
            INT sum, base;
            memcpy(&base, work.base + j, sizeof base);
            memcpy(&sum, sums + j, sizeof sum);
            sum += BITS_OF(v * scale + magic) - base;
            memcpy(sums + j, &sum, sizeof sum);
        }
    }
}

static void DPF_NAME(nearest_rows)(const double *rows, size_t n, const dpf_nearest_model *model,
                                   int64_t *labels, const nearest_work *w)
{
    const size_t width = model->width, block = w->block;
    for (size_t at = 0; at < n; at += block) {
        const size_t here = n - at < block ? n - at : block;
        const size_t ahead = (n - at - here) * width >= AHEAD ? AHEAD : 0;
        const double *x = rows + at * width;
        if ((n - at) * width < block * width + LANES) {
            memset(w->tail, 0, (block * width + LANES) * sizeof *x);
            x = memcpy(w->tail, x, here * width * sizeof *x);
        }
        DPF_NAME(nearest_columns)(x, model, w);
        DPF_NAME(nearest_labels)(model, w);
        if (labels)
            memcpy(labels + at, w->label, here * sizeof *labels);
        if (w->sums)
            DPF_NAME(nearest_add)(x, here, ahead, width, w);
    }
}

#include "core/vector_end.h"
#undef TRUTH
#undef BITS_OF
#undef PICK_INT
#undef SCORES
#undef ZIP
#undef ZIPPED
