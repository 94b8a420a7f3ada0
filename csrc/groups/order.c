#include "groups/order.h"

#define FEW 24

static inline void swap(int64_t *x, size_t i, size_t j)
{
    const int64_t t = x[i];
    x[i] = x[j];
    x[j] = t;
}

static void insert(int64_t *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const int64_t v = x[i];
        size_t j = i;
        for (; j && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

static void sink(int64_t *x, size_t i, size_t n)
{
    const int64_t v = x[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && x[child + 1] > x[child];
        if (x[child] <= v)
            break;
        x[i] = x[child];
    }
    x[i] = v;
}

static void heap(int64_t *x, size_t n)
{
    for (size_t i = n / 2; i--;)
        sink(x, i, n);
    for (size_t end = n; end-- > 1;) {
        swap(x, 0, end);
        sink(x, 0, end);
    }
}

/* Sorts x[0 .. n) as far as it lies in [from, to); `depth` is how many more bad divisions are
 * suffered. */
static void window(int64_t *x, size_t n, size_t from, size_t to, int depth)
{
    while (n > FEW) {
        if (depth-- == 0) {
            heap(x, n);
            return;
        }
        /* the middle of three, in three places */
        const size_t middle = n / 2, end = n - 1;
        if (x[middle] < x[0])
            swap(x, middle, 0);
        if (x[end] < x[middle]) {
            swap(x, end, middle);
            if (x[middle] < x[0])
                swap(x, middle, 0);
        }
        const int64_t pivot = x[middle];
        size_t i = 0, j = end;
        for (;;) { /* x[0] and x[end] stop the searches */
            do
                i++;
            while (x[i] < pivot);
            do
                j--;
            while (x[j] > pivot);
            if (i >= j)
                break;
            swap(x, i, j);
        }
        const size_t cut = j + 1; /* all of x[0 .. cut) <= pivot <= all of the rest */
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

void dpf_order_window(int64_t *x, size_t n, size_t from, size_t to)
{
    int depth = 4;
    for (size_t left = n; left; left >>= 1)
        depth += 2;
    if (from < to)
        window(x, n, from, to, depth);
}
