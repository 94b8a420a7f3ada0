/* A step of k-means for one instruction set. The including file defines DPF_SUFFIX, which ends the
 * names, and DPF_LEVEL. Lanes are rows: each row has the same operations in the same order on all
 * paths. */
#if defined(__GNUC__) || defined(__clang__)
#define WIDE (16 << DPF_LEVEL)
#define LANES (WIDE / 8)
typedef double DPF_NAME(nearest_vec) __attribute__((vector_size(WIDE)));
typedef int64_t DPF_NAME(nearest_int) __attribute__((vector_size(WIDE)));
#define VEC DPF_NAME(nearest_vec)
#define INT DPF_NAME(nearest_int)
#define TRUTH(a) (INT)(a)
#define BITS_OF(a) (INT)(a)
#define PICK(truth, a, b) (VEC)(((INT)(a) & (truth)) | ((INT)(b) & ~(truth)))
#else
#define LANES 1
#define VEC double
#define INT int64_t
#define TRUTH(a) (-(int64_t)(a))
#define BITS_OF(a) nearest_bits(a)
#define PICK(truth, a, b) ((truth) ? (a) : (b))
#endif
#define ALL(a) ((a) - (VEC){0})
#define PICK_INT(truth, a, b) (((a) & (truth)) | ((b) & ~(truth)))
#define B DPF_NEAREST_BLOCK

/* Coordinates y and cells u of a block, column by column; y holds the values on entry. `odd` is -1
 * for a row with a NaN. */
static void DPF_NAME(nearest_columns)(const dpf_nearest_model *model, double *y, int64_t *u,
                                      int64_t *odd)
{
    memset(odd, 0, B * sizeof *odd);
    for (size_t j = 0; j < model->width; j++) {
        const dpf_nearest_column *c = model->columns + j;
        const VEC lo = ALL(c->lo), hi = ALL(c->hi), fill = ALL(c->fill), middle = ALL(c->middle);
        const VEC scale = ALL(c->scale), magic = ALL(MAGIC), unit = ALL(model->unit);
        const int64_t base = (int64_t)MAGIC_BITS + c->first;
        for (size_t r = 0; r < B; r += LANES) {
            VEC v;
            INT some, cell;
            memcpy(&v, y + j * B + r, sizeof v);
            memcpy(&some, odd + r, sizeof some);
            const INT nan = TRUTH(v != v);
            some |= nan;
            v = PICK(nan, fill, v);
            v = PICK(TRUTH(v > lo), v, lo);
            v = PICK(TRUTH(v < hi), v, hi);
            cell = BITS_OF(v * scale + magic) - base;
            v = (v - middle) * unit;
            memcpy(y + j * B + r, &v, sizeof v);
            memcpy(u + j * B + r, &cell, sizeof cell);
            memcpy(odd + r, &some, sizeof some);
        }
    }
}

/* The scores of `own` centres (1 or 4) for 2 x LANES rows, and the best so far. */
#define SCORES(own)                                                                                 \
    {                                                                                               \
        VEC s[own], t[own];                                                                         \
        for (int i = 0; i < own; i++)                                                               \
            s[i] = t[i] = ALL(model->half[k + i]);                                                  \
        for (size_t j = 0; j < width; j++) {                                                        \
            VEC a, b;                                                                               \
            memcpy(&a, y + j * B + r, sizeof a);                                                    \
            memcpy(&b, y + j * B + r + LANES, sizeof b);                                            \
            for (int i = 0; i < own; i++) {                                                         \
                const VEC at = ALL(model->at[(k + i) * width + j]);                                 \
                s[i] -= at * a;                                                                     \
                t[i] -= at * b;                                                                     \
            }                                                                                       \
        }                                                                                           \
        for (int i = 0; i < own; i++) {                                                             \
            const INT p = TRUTH(s[i] < best), q = TRUTH(t[i] < other);                              \
            const INT number = (INT){0} + (int64_t)(k + i);                                         \
            best = PICK(p, s[i], best);                                                             \
            other = PICK(q, t[i], other);                                                           \
            first = PICK_INT(p, number, first);                                                     \
            second = PICK_INT(q, number, second);                                                   \
        }                                                                                           \
    }

static void DPF_NAME(nearest_labels)(const dpf_nearest_model *model, const double *y,
                                     const int64_t *odd, int64_t *label)
{
    const size_t width = model->width, centres = model->centres;
    for (size_t r = 0; r < B; r += 2 * LANES) {
        VEC best = ALL(HUGE_VAL), other = best;
        INT first = {0}, second = {0};
        size_t k = 0;
        for (; k + 4 <= centres; k += 4)
            SCORES(4)
        for (; k < centres; k++)
            SCORES(1)
        memcpy(label + r, &first, sizeof first);
        memcpy(label + r + LANES, &second, sizeof second);
    }
    if (model->skip)
        for (size_t r = 0; r < B; r++)
            label[r] = odd[r] ? (int64_t)centres : label[r];
}

static void DPF_NAME(nearest_rows)(const double *rows, size_t n, const dpf_nearest_model *model,
                                   int64_t *labels, uint64_t *counts, uint64_t *sums, double *y,
                                   int64_t *u, int64_t *odd, int64_t *label)
{
    const size_t width = model->width;
    for (size_t at = 0; at < n; at += B) {
        const size_t here = n - at < B ? n - at : B;
        const double *x = rows + at * width;
        if (n - at >= 3 * B)
            dpf_fetch(x + 2 * B * width, B * width);
        if (here < B)
            memset(y, 0, width * B * sizeof *y);
        for (size_t r = 0; r < here; r++)
            for (size_t j = 0; j < width; j++)
                y[j * B + r] = x[r * width + j];
        DPF_NAME(nearest_columns)(model, y, u, odd);
        DPF_NAME(nearest_labels)(model, y, odd, label);
        if (labels)
            memcpy(labels + at, label, here * sizeof *label);
        if (!sums)
            continue;
        for (size_t r = 0; r < here; r++) {
            uint64_t *own = sums + (size_t)label[r] * width;
            counts[label[r]]++;
            for (size_t j = 0; j < width; j++)
                own[j] += (uint64_t)u[j * B + r];
        }
    }
}

#undef WIDE
#undef LANES
#undef VEC
#undef INT
#undef TRUTH
#undef BITS_OF
#undef PICK
#undef PICK_INT
#undef ALL
#undef SCORES
#undef B
