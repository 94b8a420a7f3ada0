/* The window of ranks for one type. The including file defines KIND, which ends the names of the
 * functions, T, the type, and IS_NAN(v), 0 for a type without NaN; all are undefined again here. */
#define NAME2(a, b) a##_##b
#define NAME1(a, b) NAME2(a, b)
#define NAME(a) NAME1(a, KIND)

static inline void NAME(swap)(T *x, size_t i, size_t j)
{
    const T t = x[i];
    x[i] = x[j];
    x[j] = t;
}

static void NAME(insert)(T *x, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const T v = x[i];
        size_t j = i;
        for (; j && x[j - 1] > v; j--)
            x[j] = x[j - 1];
        x[j] = v;
    }
}

static void NAME(sink)(T *x, size_t i, size_t n)
{
    const T v = x[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && x[child + 1] > x[child];
        if (x[child] <= v)
            break;
        x[i] = x[child];
    }
    x[i] = v;
}

static void NAME(heap)(T *x, size_t n)
{
    for (size_t i = n / 2; i--;)
        NAME(sink)(x, i, n);
    for (size_t end = n; end-- > 1;) {
        NAME(swap)(x, 0, end);
        NAME(sink)(x, 0, end);
    }
}

/* Puts the numbers below a bound, or with `tied` those up to it, in front of the others, and returns
 * how many they are. Which way a number goes is not foreseen, so there is no branch on it. */
static inline size_t NAME(divide)(T *x, size_t n, T bound, const int tied)
{
    size_t below = 0;
    for (size_t i = 0; i < n; i++) {
        const T v = x[i];
        x[i] = x[below];
        x[below] = v;
        below += tied ? v <= bound : v < bound;
    }
    return below;
}

/* Puts what is NaN at the end, and returns how many numbers are before it. */
static size_t NAME(numbers)(T *x, size_t n)
{
    int odd = 0;
    for (size_t i = 0; i < n; i++)
        odd |= IS_NAN(x[i]);
    if (!odd)
        return n;
    size_t here = 0;
    for (size_t i = 0; i < n; i++) {
        const T v = x[i];
        x[i] = x[here];
        x[here] = v;
        here += !IS_NAN(v);
    }
    return here;
}

static inline T NAME(middle)(T a, T b, T c)
{
    const T low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* A number that about `rank` of n numbers are below: that of the same rank among some of them. */
static T NAME(pivot)(const T *x, size_t n, size_t rank)
{
    if (n < MANY) {
        const size_t step = n / 8;
        return NAME(middle)(NAME(middle)(x[0], x[step], x[2 * step]),
                            NAME(middle)(x[3 * step], x[4 * step], x[5 * step]),
                            NAME(middle)(x[6 * step], x[7 * step], x[n - 1]));
    }
    T some[SAMPLE];
    const size_t step = n / SAMPLE;
    for (size_t i = 0; i < SAMPLE; i++)
        some[i] = x[i * step];
    NAME(insert)(some, SAMPLE);
    return some[(size_t)((double)rank / (double)n * SAMPLE)];
}

/* Sorts x[0 .. n) as far as it lies in [from, to); `depth` is how many more divisions are suffered. */
static void NAME(window)(T *x, size_t n, size_t from, size_t to, int depth)
{
    while (n > FEW) {
        if (depth-- == 0) {
            NAME(heap)(x, n);
            return;
        }
        /* Of a narrow window aim a little beside it: most that is left out then goes at once. */
        const size_t width = to - from, spare = n / 16;
        size_t rank = n / 2;
        if (width + 2 * spare < n)
            rank = from > n - to ? (from > spare ? from - spare : 0) : to + spare < n ? to + spare : n - 1;
        const T bound = NAME(pivot)(x, n, rank);
        size_t cut = NAME(divide)(x, n, bound, 0);
        if (cut == 0) { /* it is the least: those equal to it are in their places */
            cut = NAME(divide)(x, n, bound, 1);
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
            NAME(window)(x, cut, from, cut, depth);
            x += cut, n -= cut, from = 0, to -= cut;
        }
    }
    NAME(insert)(x, n);
}

static void NAME(order)(T *x, size_t n, size_t from, size_t to)
{
    int depth = 8;
    for (size_t left = n; left; left >>= 1)
        depth += 3;
    if (from < to)
        NAME(window)(x, n, from, to, depth);
}

#undef NAME
#undef NAME1
#undef NAME2
#undef KIND
#undef T
#undef IS_NAN
