/* Smooth sensitivity of any lower quantile, one row added or removed; exact.
 *
 * Let m(n) be the rank of the statistic among n rows. How many rows must change until the statistic
 * can jump from x_i to x_j in one step? First the j - i - 1 rows between them are removed. Then L =
 * i rows are below the gap, and U = n + 1 - j rows above it. The pair (L, U) is *active* if one row
 * more or less moves the statistic over the gap. So (L, U) must become active by adding or removing
 * rows below or above. It is enough to change one of the two numbers:
 *
 *     D(i, j) = (j - i - 1) + min(distance of U from the active interval at L = i,
 *                                 distance of L from the active interval at U = n + 1 - j).
 *
 * Let s_L be the least n' >= 1 with m(n') = L. The active U at L are an interval. It begins at s_L
 * - L, or one later if m(s_L + 1) = L, and ends at max(s_{L+1}, s_{L+2} - 2) - L. At L = 0 it is
 * from 0 to max(0, s_2 - 2). Both ends ascend with L, so the active L at a U are an interval, too.
 *
 * The matrix of values is not totally monotone, so there is no envelope, and the maximum is
 * computed by branch and bound. The pairs of a block (i1..i2) x (j1..j2) have values of at most
 * (x_j2 - x_i1) e^(-beta D'). D' is a lower bound of D: each of the three parts of D has its least
 * value at a corner of the block. Blocks that cannot beat the best value by 2^-44 = 512 u are
 * dropped, and others are halved. The data affect the time only: for all data the result is S* up
 * to the stated errors (512 u and 3.2 u). So nothing is chosen by the data or by n.
 */
#include <stdlib.h>

#include "sensitivity/envelope_column.h"

#define FAR ((int64_t)1 << 60)
#define LEAF 8

typedef struct {
    const dpf_column *x;
    double beta;
    int64_t limit;       /* with beta = 0, pairs with a larger D have the value 0 */
    int64_t first, last; /* the ranks within reach */
    const int64_t *u_from, *u_to; /* the active U at L, at index L - first */
    const int64_t *l_from, *l_to; /* the active L at U = n + 1 - j, at index j - first */
} search;

typedef struct { int64_t i1, i2, j1, j2; } block;

static inline int64_t max3(int64_t a, int64_t b, int64_t c)
{
    int64_t d = a > b ? a : b;
    return d > c ? d : c;
}

/* A lower bound of D over a block; for a single pair it is D. */
static int64_t distance(const search *s, block b)
{
    int64_t u1 = s->x->n + 1 - b.j1; /* the largest U of the block */
    int64_t inner = b.j1 - b.i2 - 1;
    if (inner < 0)
        inner = 0;
    /* Along U: j - i - 1 + max(0, U - u_to(i), u_from(i) - U). */
    int64_t along_u = max3(inner, s->x->n - b.i2 - s->u_to[b.i2 - s->first],
                           b.j1 - b.i2 - 1 + s->u_from[b.i1 - s->first] - u1);
    /* Along L: j - i - 1 + max(0, i - l_to(U), l_from(U) - i). */
    int64_t along_l = max3(inner, b.j1 - 1 - s->l_to[b.j1 - s->first],
                           b.j1 - 2 * b.i2 - 1 + s->l_from[b.j2 - s->first]);
    return along_u < along_l ? along_u : along_l;
}

/* The value of a pair at distance d, or 0 if high - low is not above `best`: no weight is above
 * 1. */
static inline double worth(const search *s, double high, double low, int64_t d, double best)
{
    if (high - low <= best || d > s->limit)
        return 0.0;
    return s->beta > 0 ? (high - low) * dpf_weight(s->beta, d) : high - low;
}

static inline void try_pair(const search *s, int64_t i, int64_t j, double *best)
{
    if (i < s->first || j > s->last || i >= j)
        return;
    block b = {i, i, j, j};
    double found = worth(s, dpf_at(s->x, j), dpf_at(s->x, i), distance(s, b), *best);
    *best = found > *best ? found : *best;
}

static double branch(const search *s, double best)
{
    /* Start with pairs at which another of the three parts of D becomes the largest: the best pairs
     * are near these. */
    for (int64_t i = s->first; i < s->last; i++) {
        int64_t at = i - s->first;
        try_pair(s, i, i + 1, &best);
        if (s->u_to[at] < FAR / 2)
            try_pair(s, i, s->x->n + 1 - s->u_to[at], &best);
        if (s->u_from[at] < FAR / 2)
            try_pair(s, i, s->x->n + 1 - s->u_from[at], &best);
    }
    const double slack = s->beta > 0 ? 1 + 0x1p-44 : 1; /* a local sensitivity is exact */
    block todo[256];
    int count = 0;
    todo[count++] = (block){s->first, s->last - 1, s->first + 1, s->last};
    while (count) {
        block b = todo[--count];
        if (b.i1 >= b.j2)
            continue;
        double bound = worth(s, dpf_at(s->x, b.j2), dpf_at(s->x, b.i1), distance(s, b), best);
        if (bound <= best * slack)
            continue;
        int64_t wide = b.i2 - b.i1 + 1, high = b.j2 - b.j1 + 1;
        if (wide <= LEAF && high <= LEAF) {
            for (int64_t i = b.i1; i <= b.i2; i++)
                for (int64_t j = b.j1; j <= b.j2; j++)
                    try_pair(s, i, j, &best);
        } else if (wide >= high) {
            int64_t middle = b.i1 + wide / 2;
            todo[count++] = (block){b.i1, middle - 1, b.j1, b.j2};
            todo[count++] = (block){middle, b.i2, b.j1, b.j2};
        } else {
            int64_t middle = b.j1 + high / 2;
            todo[count++] = (block){b.i1, b.i2, middle, b.j2};
            todo[count++] = (block){b.i1, b.i2, b.j1, middle - 1};
        }
    }
    return best;
}

/* Computes the active U at L from s_L, s_{L+1} and s_{L+2}. */
static void active(int64_t L, const int64_t *s, int64_t *from, int64_t *to)
{
    if (L == 0) {
        *from = 0;
        *to = s[2] - 2 > 0 ? s[2] - 2 : 0;
        return;
    }
    *from = (s[1] - s[0] >= 2 ? s[0] + 1 : s[0]) - L;
    *to = (s[1] > s[2] - 2 ? s[1] : s[2] - 2) - L;
}

static int run(const dpf_column *x, const int64_t *starts, int64_t first_start,
               int64_t starts_count, double beta, int64_t limit, double *best)
{
    search s;
    s.x = x;
    s.beta = beta;
    s.limit = limit;
    s.first = dpf_reach_first(x);
    s.last = dpf_reach_last(x);
    int64_t ranks = s.last - s.first + 1, levels = starts_count - 2;
    int64_t *memory = malloc((size_t)(2 * levels + 2 * ranks) * sizeof *memory);
    if (!memory)
        return -1;
    int64_t *from = memory, *to = from + levels, *l_from = to + levels, *l_to = l_from + ranks;
    for (int64_t t = 0; t < levels; t++)
        active(first_start + t, starts + t, &from[t], &to[t]);
    /* U = n + 1 - j decreases as j grows. So do the least L with to >= U and the greatest L with
     * from <= U. An interval beyond the known levels counts as out of reach, which can only make a
     * value too small. There are as many levels beyond the ranks as D may be at most, so no pair
     * that matters is affected. */
    int64_t a = levels, b = levels;
    for (int64_t r = 0; r < ranks; r++) {
        int64_t U = x->n + 1 - (s.first + r);
        while (a > 0 && to[a - 1] >= U)
            a--;
        while (b > 0 && from[b - 1] > U)
            b--;
        l_from[r] = a < levels ? first_start + a : FAR;
        l_to[r] = b > 0 ? first_start + b - 1 : -FAR;
    }
    s.u_from = from + (s.first - first_start);
    s.u_to = to + (s.first - first_start);
    s.l_from = l_from;
    s.l_to = l_to;
    *best = branch(&s, *best);
    free(memory);
    return 0;
}

int dpf_envelope_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                          int64_t starts_count, double beta, double floor, double *out)
{
    *out = 0.0;
    if (!(x->hi > x->lo))
        return 0;
    double best = floor;
    int status = run(x, starts, first_start, starts_count, beta, FAR / 2, &best);
    *out = best > floor ? dpf_envelope_up(best, floor) : floor;
    return status;
}

int dpf_local_quantile(const dpf_column *x, const int64_t *starts, int64_t first_start,
                       int64_t starts_count, int64_t k, double *out)
{
    *out = 0.0;
    return run(x, starts, first_start, starts_count, 0.0, k, out);
}
