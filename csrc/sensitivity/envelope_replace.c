/* Smooth sensitivity of x_m, one row replaced: max over i <= m <= j, i < j of (x_j - x_i) e^(-beta
 * (j - i - 1)).
 *
 * The upper envelope. In this maximum, i is called a row and j a column. For a fixed column j the
 * value of a pair is, up to the factor e^(beta (i+1)) of the row, the line v -> (x_j - v) e^(-beta
 * j) at v = x_i. A later column j' is better than j where v exceeds x_j - h(j, j'), with h(j, j') =
 * (x_j' - x_j) / expm1(beta (j' - j)). This v is the turn from j to j'. A stack has the columns
 * that are the best for some v, in the order of their turns. Then a pointer into the stack follows
 * the rows, whose x_i ascend. Both passes, over columns and over rows, are linear. Two shortcuts
 * skip most of them:
 *  - A column whose turn from the top of the stack is beyond x_m never counts. For a block of
 *    columns this is shown by its last value and its first rank.
 *  - A block of rows is not read if its first value together with its last rank cannot beat the
 *    best pair so far.
 *
 * The mirror. Building the stack takes most of the time. So the columns are the side of m with
 * fewer ranks: at first by their number, later by what block bounds leave. If that is the lower
 * side, the kernel reads the data in a mirror, where rank r is n + 1 - r and each value has the
 * opposite sign. That keeps the order, and turns a pair (i, j) into (n + 1 - j, n + 1 - i). It is
 * exact: negation does not round, and -x_i - (-x_j) is the same float64 as x_j - x_i. So everything
 * that holds for an ascending column also holds in the mirror, and its pairs have the same values.
 * Nothing is copied: value_at() and values_at() read through the mirror.
 *
 * Errors, with u = 2^-53. The kernel compares differences of values, never values. So all errors
 * are relative, and there is no cancellation. x_j' - x_j has an error of u, and the reciprocal 8 u
 * (sensitivity/exp.h), so h has 10 u, and k = (x_j - x_i) + h has 11 u.
 *  - Wrong choices near a turn. Let c be the successor of column b. Let v be on the wrong side of
 *    their turn, but within 16 u times the distance of x_b from the turn. Then using one instead of
 *    the other loses at most 16 u (1 + 32 u) of the value: |f_b - f_c| = |v - turn| (e^(-beta b) -
 *    e^(-beta c)), and f_b is (x_b - v) e^(-beta b). So a wrong step of the row pointer, a wrong
 *    skip and a wrong pop from the stack lose 16 u each.
 *  - Several wrong pops could add up: b is popped for c, then c for d. A pop is certain if h >= (1
 *    + 16 u) k. Between that and (1 - 16 u) k it is a close call. Every column has a counter: the
 *    length of the longest chain of close calls that ends in it. If column b is popped, its
 *    successor or its predecessor replaces it: the successor takes over its counter, plus 1 if the
 *    call was close, the predecessor takes over its counter. If a counter exceeds 64, all is
 *    computed again in the mirror. If that fails, too, divide and conquer is used, where losses add
 *    up over at most log2 of the rows. (This needs beta below 1e-14, or adversarial values.) Not
 *    popping is always certain, so the turns in the stack ascend, and the pointer is wrong by at
 *    most one column.
 *  - In a block of rows a weight is the product of two weights, each with an error of 1.06 u. So a
 *    value has 6 u. The best pair of the block is then computed again, with 3.2 u. It need not be
 *    the true best of the block, which loses 12 u.
 *  - Shortcuts skip only what is smaller by a margin of 2^-40.
 * All errors together are less than (64 + 3) 17 u + 12 u + 4 u < 1160 u, of the 2048 u of
 * dpf_envelope_up().
 *
 * Divide and conquer. The best column of the middle row, by direct comparison, divides the columns.
 * A comparison of two values with errors of 3.2 u loses 6.4 u in that row. For another row of the
 * same half, being on the wrong side loses at most twice that. To see this, let v' = v + delta be
 * its value, A the value of the right column at v, and w <= 1 the ratio of the two weights. The
 * wrong column loses at most 6.4 u A - delta (1 - w) of A - delta. Either delta <= A/2; or 1 - w <
 * 13 u, and then the wrong column, which is the higher one, loses no more than 1 - w. Over 63
 * levels this is below 820 u.
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
    double x, h;        /* the value, and its distance from the turn to the next column, below it */
    uint64_t rank : 48; /* rank and lost are one word, because a deep stack is slow to write */
    uint64_t lost : 16; /* the longest chain of close calls that ends in this column */
} line;

typedef struct {
    const dpf_column *x;
    int mirrored;           /* whether the following ranks and values are those in the mirror */
    int64_t m, first, last; /* rows are first .. m, and columns m .. last */
    double beta;
    double inverse[TABLE]; /* 1 / expm1(beta d) for d < known */
    int64_t known;
    line *stack;
    int64_t top;
    int64_t close; /* the longest chain of close calls */
    double best;   /* the largest value of a pair so far, or the floor */
    int64_t coarse; /* rows or columns for each entry of the next arrays; 0 without these */
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

/* The value of a pair, with an error of 3.2 u if it is above the floor. */
static inline double pair_value(double xj, double xi, double beta, int64_t span)
{
    return xj > xi ? (xj - xi) * dpf_weight(beta, span) : 0.0;
}

static inline void push(envelope *s, double value, int64_t rank, int64_t lost)
{
    s->stack[++s->top] = (line){value, 0.0, (uint64_t)rank, (uint64_t)lost};
}

/* How many of the first `ranks` are in blocks whose upper bounds are above the best. */
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
    /* A deep stack is written once, page by page. With small pages, page faults would take most of
     * the time. */
    const uintptr_t page = (uintptr_t)1 << 21;
    uintptr_t from = ((uintptr_t)stack + page - 1) & ~(page - 1);
    uintptr_t to = ((uintptr_t)(stack + room)) & ~(page - 1);
    if (stack && to > from)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
#endif
    return stack;
}

/* Upper bounds from blocks. A block of columns counts as one column with its highest value and
 * least rank, a block of rows as one row with its least value and greatest rank. bounds() computes
 * for each query the value of its best line. There are at most 2^21 lines. So even if every call
 * were close and wrong, the result would be too small by a factor of 1 - 2^21 16 u = 1 - 2^-28
 * only, for which another factor makes up. */
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

/* Computes upper bounds of all blocks of rows first .. m - 1 and of columns m + 1 .. last; row m
 * and column m are separate lines. Raises `best` to the value of a pair in the best blocks. */
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
    /* The same with opposite signs, where rows are lines and columns are queries. */
    point swap;
    for (int64_t c = 0; c < cols; c++)
        s->col_upper[c] = lines[c + 1].x; /* saved here while the arrays are reversed */
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
    int64_t rank = s->m; /* the rank of t */
    double k = NAN;      /* from t.x down to the turn to t; no h is >= NaN, so the bottom stays */
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
    s->stack[s->top].h = -1.0; /* there is no turn from the last column */
}

static double rows(const envelope *s)
{
    const line *stack = s->stack;
    double beta = s->beta, best = s->best, buffer[DPF_BLOCK], falling[TABLE];
    int64_t p = 0, filled = 0; /* falling[d] = e^(-beta d) for d < filled */
    for (int64_t c = s->first, count; c <= s->m; c += count) {
        /* Row m is a separate block, so every other block ends before the first column. */
        count = c == s->m ? 1 : s->m - c < DPF_BLOCK ? s->m - c : DPF_BLOCK;
        int64_t end = c + count - 1;
        if (s->coarse && c < s->m && s->row_upper[(c - s->first) / s->coarse] <= best)
            continue;
        double v = value_at(s, c);
        while (stack[p].x - v <= stack[p].h)
            p++;
        /* The values of this block are at most (x_p - v) e^(-beta (rank_p - end - 1)). */
        int64_t origin = (int64_t)stack[p].rank, span = origin - end - 1;
        if (span < 0) /* row m and column m are no pair */
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

/* Raises `best` to the smooth sensitivity, unless `close` exceeds its limit. With `choose` it
 * changes to the other side if the bounds leave clearly fewer rows than columns. */
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
        if (less > (s->last - s->first) / 16) { /* enough to pay for new bounds */
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

/* The last rank of from .. to whose value is not above that of `from`. */
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

/* The first rank of from .. to whose value is not below that of `to`. */
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
    /* e^(-beta n) range <= S* <= range, also if beta is larger by a factor of two. */
    if (beta * (double)x->n < 0x1p-44) {
        *out = dpf_envelope_up(range, floor);
        return 0;
    }
    int64_t span = dpf_envelope_span(x, beta, floor);
    envelope s;
    s.x = x;
    s.m = m;
    s.beta = beta;
    /* A pair with a larger span is below the floor. Of equal values at the outer ends, only the one
     * nearest to m is needed. */
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
