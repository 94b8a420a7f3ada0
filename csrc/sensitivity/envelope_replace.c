/* Smooth sensitivity of x_m, one row replaced:  max over i <= m <= j, i < j of
 * (x_j - x_i) e^(-beta (j - i - 1)).
 *
 * The upper envelope. For a fixed column j the value is, but for the factor e^(beta (i+1)) of the
 * row, the line v -> (x_j - v) e^(-beta j) at v = x_i. A later column j' overtakes j where v
 * exceeds x_j - h(j, j'), with h(j, j') = (x_j' - x_j) / expm1(beta (j' - j)). A stack holds the
 * columns that are somewhere the best, in the order of their turns; then the rows, whose x_i
 * ascend, walk along it with one pointer. Column and row passes are linear. Two shortcuts skip most
 * of either:
 *  - a column that overtakes the top of the stack only beyond x_m never counts (and neither does a
 *    block of columns, by its last value and first rank);
 *  - a block of rows whose first value and last rank together cannot beat the best is not read.
 *
 * The stack costs most, so it is built on the side of m where block bounds leave
 * fewer ranks, at first the shorter one. For the lower side to be the columns
 * the kernel looks at the data in a mirror: rank r stands for n + 1 - r and its value for minus the
 * value there. That keeps the order, turns a pair (i, j) into (n + 1 - j, n + 1 - i), and is exact:
 * negation does not round, and -x_i - (-x_j) is the same float64 as x_j - x_i. So all that follows,
 * which is for any ascending column, holds for the one in the mirror, and its pairs have the same
 * values. Nothing is copied; value_at() and values_at() are the mirror.
 *
 * Errors, u = 2^-53. Differences of values, not values, are compared throughout, so everything
 * below is relative and needs no word about cancellation. x_j' - x_j costs u, the reciprocal 8 u
 * (sensitivity/exp.h), so h is good to 10 u and k = (x_j - x_i) + h to 11 u.
 *  - Replacing column b by its successor c at any v below their crossing, or by its predecessor above
 *    it, but within 16 u times the distance of x_b from the crossing, loses at most 16 u (1 + 32 u) of
 *    the value: |f_b - f_c| = |v - crossing| (e^(-beta b) - e^(-beta c)), and f_b is (x_b - v)
 *    e^(-beta b). So a wrong step of the row pointer, a wrong skip and a wrong pop lose 16 u each.
 *  - Wrong pops could add up: b lost to c, c to d. A pop is certain when h >= (1 + 16 u) k; between
 *    that and (1 - 16 u) k it is a close call. Every column carries the length of the longest chain of
 *    close calls that ends in it: what b stood for is now stood for by its successor, with one call
 *    more if this one was close, or by its predecessor. If a chain exceeds 64, the whole is done again
 *    in the mirror, and then by divide and conquer, where losses do not add up beyond log2 of the rows.
 *    (That takes beta below 1e-14, or values made for it.) Not popping is always certain, so the turns in the stack ascend
 *    and the pointer goes wrong by one column at most.
 *  - In a block of rows a weight is the product of two, each good to 1.06 u: 6 u for a value. The best
 *    of the block is then valued afresh, to 3.2 u. That it need not be the true best of the block
 *    costs 12 u.
 *  - Shortcuts leave out only what a margin of 2^-40 shows to be smaller.
 * In all less than (64 + 3) 17 u + 12 u + 4 u < 1160 u, of the 2048 u of dpf_envelope_up().
 *
 * Divide and conquer: the best column of the middle row, by direct comparison, splits the columns.
 * A comparison of two values, each good to 3.2 u, loses 6.4 u in that row; in a row of the same
 * half the loss of being on the wrong side is at most twice that (with v' = v + delta: the wrong
 * column loses at most 6.4 u A - delta (1 - w) of A - delta, where A is the value of the right
 * column at v and w <= 1 the ratio of the two weights; either delta <= A/2, or 1 - w < 13 u and
 * then the wrong column, being the higher, loses no more than 1 - w). Over 63 levels below 820 u.
 */
#if defined(__linux__)
#define _DEFAULT_SOURCE
#include <sys/mman.h>
#endif
#include <math.h>
#include <stdlib.h>

#include "sensitivity/envelope_column.h"

#define TABLE 256
#define CLOSE_LIMIT 64
#define COARSE_FROM 4096
#define LOCAL 128

typedef struct {
    double x, h;        /* value; distance down from it to the turn of the next column in the stack */
    uint64_t rank : 48; /* one word with the next, since a deep stack costs its memory in time */
    uint64_t lost : 16; /* how many close calls in a row a column that it stands for has lost */
} line;

typedef struct {
    const dpf_column *x;
    int mirrored;           /* ranks and values below are those in the mirror */
    int64_t m, first, last; /* rows first .. m, columns m .. last */
    double beta;
    double inverse[TABLE]; /* 1 / expm1(beta d), filled up to known - 1 */
    int64_t known;
    line *stack;
    int64_t top;
    int64_t close; /* the longest chain of close calls */
    double best;   /* worth of a true pair, or the floor */
    int64_t coarse; /* rows or columns for each entry of the next two; 0: none */
    double *row_upper, *col_upper;
} envelope;

static inline double value_at(const envelope *s, int64_t rank)
{
    return s->mirrored ? -dpf_at(s->x, s->x->n + 1 - rank) : dpf_at(s->x, rank);
}

/* The values of rank .. rank + count - 1 into out. */
static inline void values_at(const envelope *s, int64_t rank, int64_t count, double *out)
{
    if (s->mirrored)
        dpf_read(s->x, s->x->n + 1 - rank, count, -1, out);
    else
        dpf_read(s->x, rank, count, 1, out);
}

static void mirror(envelope *s)
{
    int64_t ends = s->x->n + 1, first = s->first;
    s->mirrored = !s->mirrored;
    s->m = ends - s->m;
    s->first = ends - s->last;
    s->last = ends - first;
}

static double compute_inverse(double beta, int64_t d)
{
    if (!(beta * (double)d < 709.5))
        return 0.0;
    return dpf_inverse_expm1_pair(dpf_product(beta, (double)d));
}

static inline double inverse_of(const envelope *s, int64_t d)
{
    return d < s->known ? s->inverse[d] : compute_inverse(s->beta, d);
}

/* A true pair's value, to 3.2 u when it is above the floor. */
static inline double pair_value(double xj, double xi, double beta, int64_t span)
{
    return xj > xi ? (xj - xi) * dpf_weight(beta, span) : 0.0;
}

static inline void push(envelope *s, double value, int64_t rank, int64_t lost)
{
    s->stack[++s->top] = (line){value, 0.0, (uint64_t)rank, (uint64_t)lost};
}

/* Of the first `ranks` that `upper` bounds, those in blocks that can beat the best. */
static int64_t surviving(const envelope *s, const double *upper, int64_t ranks)
{
    int64_t found = 0;
    for (int64_t c = 0; c * s->coarse < ranks; c++)
        found += upper[c] > s->best ? s->coarse : 0;
    return found;
}

static line *new_stack(int64_t room)
{
    line *stack = malloc((size_t)room * sizeof *stack);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    /* A deep stack is touched once, page by page: small pages would take most of the time. */
    const uintptr_t page = (uintptr_t)1 << 21;
    uintptr_t from = ((uintptr_t)stack + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)(stack + room)) & ~(page - 1);
    if (stack && to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
    return stack;
}

/* Upper bounds from blocks. A block of columns counts as one column with its highest value and
 * least rank, a block of rows as one row with its least value and greatest rank. bounds() gives
 * each query the worth of its best line. There are at most 2^21 lines, so even if every call were
 * close and wrong the result would be short by 2^21 16 u = 2^-28, which the factor makes good. */
typedef struct {
    double x;
    int64_t rank;
} point;

typedef struct {
    double x, h, k;
    int64_t at;
} coarse_line;

static int64_t bounds(const point *lines, int64_t n_lines, const point *queries, int64_t n_queries,
                      double beta, coarse_line *stack, double *upper, int64_t *best_line)
{
    int64_t top = 0, p = 0, best = 0;
    double highest = -1.0;
    stack[0] = (coarse_line){lines[0].x, -1.0, NAN, 0};
    for (int64_t c = 1; c < n_lines; c++) {
        double y = lines[c].x, h;
        if (y <= stack[top].x)
            continue;
        for (;;) {
            const coarse_line *t = &stack[top];
            h = (y - t->x) * compute_inverse(beta, lines[c].rank - lines[t->at].rank);
            if (!(h >= t->k))
                break;
            top--;
        }
        stack[top].h = h;
        double k = (y - stack[top].x) + h;
        stack[++top] = (coarse_line){y, -1.0, k, c};
    }
    stack[top].h = -1.0;
    for (int64_t r = 0; r < n_queries; r++) {
        double v = queries[r].x;
        while (stack[p].x - v <= stack[p].h)
            p++;
        int64_t span = lines[stack[p].at].rank - queries[r].rank - 1;
        upper[r] = (stack[p].x - v) * dpf_weight(beta, span) * (1 + 0x1p-27);
        if (upper[r] > highest) {
            highest = upper[r];
            best = r;
            *best_line = stack[p].at;
        }
    }
    return best;
}

/* Bounds of all blocks of rows first .. m - 1 and columns m + 1 .. last; row m and column m are
 * lines by themselves. Raises best to the worth of a pair in the best blocks. */
static int coarse(envelope *s)
{
    int64_t n_rows = s->m - s->first, n_cols = s->last - s->m, size = DPF_BLOCK, best_line = 0;
    while ((n_rows > n_cols ? n_rows : n_cols) / size >= (1 << 20))
        size *= 2;
    int64_t rows = (n_rows + size - 1) / size, cols = (n_cols + size - 1) / size;
    int64_t most = (rows > cols ? rows : cols) + 1;
    point *lines = malloc((size_t)most * (2 * sizeof(point) + sizeof(coarse_line)));
    s->row_upper = malloc((size_t)(rows + cols + 2) * sizeof(double));
    if (!lines || !s->row_upper) {
        free(lines);
        return -1;
    }
    s->col_upper = s->row_upper + rows + 1;
    s->coarse = size;
    point *queries = lines + most;
    coarse_line *stack = (coarse_line *)(queries + most);
    double xm = value_at(s, s->m);
    lines[0] = (point){xm, s->m};
    for (int64_t c = 0; c < cols; c++) {
        int64_t from = s->m + 1 + c * size, to = from + size - 1 < s->last ? from + size - 1 : s->last;
        lines[c + 1] = (point){value_at(s, to), from};
    }
    for (int64_t r = 0; r < rows; r++) {
        int64_t from = s->first + r * size, to = from + size - 1 < s->m - 1 ? from + size - 1 : s->m - 1;
        queries[r] = (point){value_at(s, from), to};
    }
    if (rows) {
        int64_t r = bounds(lines, cols + 1, queries, rows, s->beta, stack, s->row_upper, &best_line);
        int64_t i = s->first + r * size, j = s->m + best_line * size;
        j = j < s->last ? j : s->last;
        double found = pair_value(value_at(s, j), value_at(s, i), s->beta, j - i - 1);
        s->best = found > s->best ? found : s->best;
    }
    /* The same with all signs turned: rows are lines, columns ask. */
    point swap;
    for (int64_t c = 0; c < cols; c++)
        s->col_upper[c] = lines[c + 1].x; /* kept while the arrays are turned */
    for (int64_t r = 0; r < rows / 2; r++) {
        swap = queries[r];
        queries[r] = queries[rows - 1 - r];
        queries[rows - 1 - r] = swap;
    }
    lines[0] = (point){-xm, -s->m};
    for (int64_t r = 0; r < rows; r++)
        lines[r + 1] = (point){-queries[r].x, -queries[r].rank};
    for (int64_t c = 0; c < cols; c++)
        queries[cols - 1 - c] = (point){-s->col_upper[c], -(s->m + 1 + c * size)};
    if (cols) {
        bounds(lines, rows + 1, queries, cols, s->beta, stack, s->col_upper, &best_line);
        for (int64_t c = 0; c < cols / 2; c++) {
            double upper = s->col_upper[c];
            s->col_upper[c] = s->col_upper[cols - 1 - c];
            s->col_upper[cols - 1 - c] = upper;
        }
    }
    free(lines);
    return 0;
}

static void columns(envelope *s)
{
    double xm = value_at(s, s->m), buffer[DPF_BLOCK];
    s->top = -1;
    push(s, xm, s->m, 0);
    line t = s->stack[0];
    int64_t rank = s->m; /* of t */
    double k = NAN;      /* distance down from t.x to its own turn; no h is >= NaN: the bottom stays */
    for (int64_t c = s->m + 1; c <= s->last; c += DPF_BLOCK) {
        int64_t count = s->last - c + 1 < DPF_BLOCK ? s->last - c + 1 : DPF_BLOCK;
        if (s->coarse && s->col_upper[(c - s->m - 1) / s->coarse] <= s->best)
            continue;
        if (t.x > xm) {
            double highest = value_at(s, c + count - 1) - t.x;
            if (highest <= 0 || highest * inverse_of(s, c - rank) <= (t.x - xm) * (1 - 0x1p-40))
                continue;
        }
        values_at(s, c, count, buffer);
        for (int64_t b = 0; b < count; b++) {
            double y = buffer[b];
            if (y <= t.x)
                continue;
            double h = (y - t.x) * inverse_of(s, c + b - rank);
            if (h <= t.x - xm)
                continue;
            int64_t lost = 0;
            while (h >= k * (1 - 0x1p-49)) {
                int64_t left = (int64_t)t.lost, heir = left + (h < k * (1 + 0x1p-49));
                lost = heir > lost ? heir : lost;
                t = s->stack[--s->top];
                if (left > (int64_t)t.lost)
                    t.lost = (uint64_t)left;
                rank = (int64_t)t.rank;
                h = (y - t.x) * inverse_of(s, c + b - rank);
                if (s->top == 0) {
                    k = NAN;
                } else {
                    const line *before = &s->stack[s->top - 1];
                    k = (t.x - before->x) + before->h;
                }
            }
            if (lost > s->close) {
                s->close = lost;
                if (lost > CLOSE_LIMIT)
                    return;
            }
            s->stack[s->top].h = h;
            s->stack[s->top].lost = t.lost;
            k = (y - t.x) + h;
            rank = c + b;
            push(s, y, rank, lost);
            t = s->stack[s->top];
        }
    }
    s->stack[s->top].h = -1.0; /* the last column is never overtaken */
}

static double rows(const envelope *s)
{
    const line *stack = s->stack;
    double beta = s->beta, best = s->best, buffer[DPF_BLOCK], falling[TABLE];
    int64_t p = 0, filled = 0; /* falling[d] = e^(-beta d), filled as far as it was needed */
    for (int64_t c = s->first, count; c <= s->m; c += count) {
        /* Row m has a block of its own, so that every other block ends before the first column. */
        count = c == s->m ? 1 : s->m - c < DPF_BLOCK ? s->m - c : DPF_BLOCK;
        int64_t end = c + count - 1;
        if (s->coarse && c < s->m && s->row_upper[(c - s->first) / s->coarse] <= best)
            continue;
        double v = value_at(s, c);
        while (stack[p].x - v <= stack[p].h)
            p++;
        /* Values of this block are at most (x_p - v) e^(-beta (rank_p - end - 1)). */
        int64_t origin = (int64_t)stack[p].rank, span = origin - end - 1;
        if (span < 0) /* row m, column m: no pair */
            continue;
        double weight = dpf_weight(beta, span);
        if ((stack[p].x - v) * weight * (1 + 0x1p-40) <= best)
            continue;
        for (; filled < count; filled++)
            falling[filled] = dpf_weight(beta, filled);
        values_at(s, c, count, buffer);
        /* In units of e^(-beta span): value times e^(-beta (end - i)) e^(-beta (rank_p -
         * origin)). */
        double threshold = best / weight * (1 - 0x1p-40);
        double along = 1.0, xp = stack[p].x, xi = 0, xj = 0;
        double hp = stack[p].h;
        int64_t gap = -1;
        for (int64_t r = 0; r < count; r++) {
            v = buffer[r];
            if (xp - v <= hp) {
                do
                    p++;
                while (stack[p].x - v <= stack[p].h);
                int64_t d = (int64_t)stack[p].rank - origin;
                if (d < TABLE) {
                    for (; filled <= d; filled++)
                        falling[filled] = dpf_weight(beta, filled);
                    along = falling[d];
                } else {
                    along = dpf_weight(beta, d);
                }
                xp = stack[p].x;
                hp = stack[p].h;
            }
            double value = (xp - v) * along * falling[count - 1 - r];
            if (value > threshold) {
                threshold = value;
                xi = v;
                xj = xp;
                gap = (int64_t)stack[p].rank - (c + r) - 1;
            }
        }
        if (gap >= 0) {
            double found = pair_value(xj, xi, beta, gap);
            best = found > best ? found : best;
        }
    }
    return best;
}

/* Raises best to the smooth sensitivity, unless `close` exceeds its limit. With `choose` the mirror
 * is turned where the bounds leave clearly fewer rows than columns. */
static int by_envelope(envelope *s, int choose)
{
    line local[LOCAL];
    int status = 0;
    s->close = 0;
    s->coarse = 0;
    s->row_upper = s->col_upper = NULL;
    if (s->last - s->first > COARSE_FROM)
        status = coarse(s);
    if (s->coarse && !status && choose) {
        int64_t less = surviving(s, s->col_upper, s->last - s->m)
                       - surviving(s, s->row_upper, s->m - s->first);
        if (less > (s->last - s->first) / 16) { /* worth the time of new bounds */
            free(s->row_upper);
            mirror(s);
            status = coarse(s);
        }
    }
    int64_t widest = s->last - s->m + 1, room = widest;
    if (s->coarse && !status)
        room = 1 + surviving(s, s->col_upper, widest - 1);
    s->known = widest < TABLE ? widest : TABLE;
    s->inverse[0] = 0;
    for (int64_t d = 1; d < s->known; d++)
        s->inverse[d] = compute_inverse(s->beta, d);
    s->stack = status || room <= LOCAL ? local : new_stack(room);
    if (!s->stack)
        status = -1;
    if (!status)
        columns(s);
    if (!status && s->close <= CLOSE_LIMIT)
        s->best = rows(s);
    if (s->stack != local)
        free(s->stack);
    free(s->row_upper);
    return status;
}

/* Divide and conquer over rows first .. m and columns m .. last; beta (last - first) < 1500. */
static int divide(const envelope *s, double *best)
{
    typedef struct { int64_t row_a, row_b, col_a, col_b; } task;
    int64_t n_cols = s->last - s->m + 1;
    double *col = malloc((size_t)n_cols * 2 * sizeof *col);
    if (!col)
        return -1;
    double *weight = col + n_cols;
    values_at(s, s->m, n_cols, col);
    for (int64_t j = 0; j < n_cols; j++)
        weight[j] = dpf_weight(s->beta, j);
    task tasks[80];
    int count = 0;
    tasks[count++] = (task){s->first, s->m, 0, n_cols - 1};
    while (count) {
        task t = tasks[--count];
        int64_t row = t.row_a + (t.row_b - t.row_a) / 2, arg = t.col_a;
        double v = value_at(s, row), highest = -1;
        for (int64_t j = t.col_a; j <= t.col_b; j++) {
            double value = (col[j] - v) * weight[j];
            if (value > highest) {
                highest = value;
                arg = j;
            }
        }
        int64_t span = s->m + arg - row - 1;
        if (span >= 0) {
            double found = pair_value(col[arg], v, s->beta, span);
            *best = found > *best ? found : *best;
        }
        if (row < t.row_b)
            tasks[count++] = (task){row + 1, t.row_b, arg, t.col_b};
        if (row > t.row_a)
            tasks[count++] = (task){t.row_a, row - 1, t.col_a, arg};
    }
    free(col);
    return 0;
}

/* The last rank in from .. to whose value is not above that of `from`. */
static int64_t last_equal(const dpf_column *x, int64_t from, int64_t to)
{
    double v = dpf_at(x, from);
    while (from < to) {
        int64_t middle = from + (to - from + 1) / 2;
        if (dpf_at(x, middle) <= v)
            from = middle;
        else
            to = middle - 1;
    }
    return from;
}

/* The first rank in from .. to whose value is not below that of `to`. */
static int64_t first_equal(const dpf_column *x, int64_t from, int64_t to)
{
    double v = dpf_at(x, to);
    while (from < to) {
        int64_t middle = from + (to - from) / 2;
        if (dpf_at(x, middle) >= v)
            to = middle;
        else
            from = middle + 1;
    }
    return to;
}

int dpf_envelope_replace(const dpf_column *x, int64_t m, double beta, double floor, int method,
                         double *out)
{
    double range = x->hi - x->lo;
    *out = 0.0;
    if (!(range > 0))
        return 0;
    /* e^(-beta n) range <= S* <= range; a change of beta by a factor of two is no matter here. */
    if (beta * (double)x->n < 0x1p-44) {
        *out = dpf_envelope_up(range, floor);
        return 0;
    }
    int64_t span = dpf_envelope_span(x, beta, floor);
    envelope s;
    s.x = x;
    s.m = m;
    s.beta = beta;
    /* A pair of a larger span is below the floor. Equal values at the outer ends count once. */
    s.first = dpf_reach_first(x);
    s.last = dpf_reach_last(x);
    if (s.first < m - span - 1)
        s.first = m - span - 1;
    if (s.last > m + span + 1)
        s.last = m + span + 1;
    s.first = last_equal(x, s.first, m);
    s.last = first_equal(x, m, s.last);
    double best = floor;
    double xm = dpf_at(x, m);
    if (s.first < m)
        best = fmax(best, xm - dpf_at(x, m - 1));
    if (s.last > m)
        best = fmax(best, dpf_at(x, m + 1) - xm);
    if (s.last - s.first >= 1)
        best = fmax(best, pair_value(dpf_at(x, s.last), dpf_at(x, s.first), beta,
                                     s.last - s.first - 1));
    s.best = best;
    s.mirrored = 0;
    if (method & DPF_MIRRORED || (!(method & DPF_FORWARD) && s.last - m > m - s.first))
        mirror(&s);
    int sides = method & DPF_DIVIDE ? 0 : method & (DPF_FORWARD | DPF_MIRRORED) ? 1 : 2, status = 0;
    s.close = CLOSE_LIMIT + 1;
    for (; sides && !status && s.close > CLOSE_LIMIT; sides--) {
        status = by_envelope(&s, sides == 2);
        mirror(&s);
    }
    if (!status && s.close > CLOSE_LIMIT)
        status = divide(&s, &s.best);
    *out = s.best > floor ? dpf_envelope_up(s.best, floor) : floor;
    return status;
}
