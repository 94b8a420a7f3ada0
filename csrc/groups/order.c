#include "groups/order.h"

#define FEW 12

static inline void swap(int32_t *x, size_t i, size_t j)
{
    const int32_t t = x[i];
    x[i] = x[j];
    x[j] = t;
}

static void insert(int32_t *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const int32_t v = x[i];
        size_t j = i;
        for (; j && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

static void sink(int32_t *x, size_t i, size_t n)
{
    const int32_t v = x[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && x[child + 1] > x[child];
        if (x[child] <= v)
            break;
        x[i] = x[child];
    }
    x[i] = v;
}

static void heap(int32_t *x, size_t n)
{
    for (size_t i = n / 2; i--;)
        sink(x, i, n);
    for (size_t end = n; end-- > 1;) {
        swap(x, 0, end);
        sink(x, 0, end);
    }
}

/* Puts the numbers below a bound in front of the others, and returns how many they are. Which way a
 * number goes is not foreseen, so there is no branch on it. */
static size_t divide(int32_t *x, size_t n, int32_t bound)
{
    size_t below = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t v = x[i];
        x[i] = x[below];
        x[below] = v;
        below += v < bound;
    }
    return below;
}

static inline int32_t middle(int32_t a, int32_t b, int32_t c)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Sorts x[0 .. n) as far as it lies in [from, to); `depth` is how many more bad divisions are
 * suffered. */
static void window(int32_t *x, size_t n, size_t from, size_t to, int depth)
{
    while (n > FEW) {
        if (depth-- == 0) {
            heap(x, n);
            return;
        }
        const size_t step = n / 8;
        const int32_t pivot = middle(middle(x[0], x[step], x[2 * step]),
                                     middle(x[3 * step], x[4 * step], x[5 * step]),
                                     middle(x[6 * step], x[7 * step], x[n - 1]));
        size_t cut = divide(x, n, pivot);
        if (cut == 0) { /* it is the least: those equal to it are in their places */
            cut = pivot < INT32_MAX ? divide(x, n, pivot + 1) : n;
            if (from < cut)
                from = cut;
            if (to <= cut)
                return;
        }
        if (to <= cut) {
            n = cut;
        } else if (from >= cut) {
            x += cut, n -= cut, from -= cut, to -= cut;
        } else {
            window(x, cut, from, cut, depth);
            x += cut, n -= cut, from = 0, to -= cut;
        }
    }
    insert(x, n);
}

void dpf_order_window(int32_t *x, size_t n, size_t from, size_t to)
{
    int depth = 4;
    for (size_t left = n; left; left >>= 1)
        depth += 2;
    if (from < to)
        window(x, n, from, to, depth);
}
