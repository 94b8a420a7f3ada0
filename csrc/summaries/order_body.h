/* The window of order statistics for one type. The including file defines KIND, the end of the
 * names of the functions; CODE, its number in core/dtype.h; T, the type; IS_NAN(v), 0 for a type
 * without NaN; and LEAST and MOST, the least and the largest number. All are undefined again
 * here. */
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

/* Moves the numbers below a bound, or with `tied` those up to it, before all others, and returns
 * how many they are. There is no branch on a number, because it could not be predicted. */
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

/* Moves each NaN to the end, and returns how many numbers are not NaN. */
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

/* Returns a number with about `rank` of n numbers below it: the number of this relative rank in a
 * sample. */
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

/* Sorts x[0 .. n) at the indices [from, to). After `depth` divisions it uses a heap. */
static void NAME(window)(T *x, size_t n, size_t from, size_t to, int depth)
{
    while (n > FEW) {
        if (depth-- == 0) {
            NAME(heap)(x, n);
            return;
        }
        /* For a narrow window the pivot is a little outside of it, so that nearly all other numbers
         * are excluded in one step. */
        const size_t width = to - from, spare = n / 16;
        size_t rank = n / 2;
        if (width + 2 * spare < n)
            rank = from > n - to ? (from > spare ? from - spare : 0) : to + spare < n ? to + spare : n - 1;
        const T bound = NAME(pivot)(x, n, rank);
        size_t cut = NAME(divide)(x, n, bound, 0);
        if (cut == 0) { /* the bound is the least number, and numbers equal to it come first */
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

/* Sets two pivots that have the ranks [from, to) between them with high probability. They are from
 * a sample of about n**(2/3) / 3 numbers, one of each `step` numbers, and several standard
 * deviations of its error outside of the window. Returns about how many numbers are between them,
 * or 0 if the sample has a NaN. */
static size_t NAME(pivots)(const T *x, size_t n, size_t from, size_t to, T *sample, size_t size,
                           T pivots[2])
{
    const size_t step = n / size;
    uint64_t place = n;
    for (size_t i = 0; i < size; i++) {
        place = place * 6364136223846793005u + 1442695040888963407u;
        sample[i] = x[i * step + (size_t)((place >> 32) * step >> 32)];
    }
    if (NAME(numbers)(sample, size) < size)
        return 0; /* then few() counts the NaN */
    const double share = (double)size / (double)n, low = (double)from * share, high = (double)to * share;
    const double i = low - SPARE * sqrt(low * (1 - low / (double)size)) - SPARE;
    const double j = high + SPARE * sqrt(high * (1 - high / (double)size)) + SPARE;
    const size_t first = i < 0 ? 0 : (size_t)i, last = j < (double)size ? (size_t)j : size - 1;
    NAME(order)(sample, size, first, last + 1);
    pivots[0] = i < 0 ? LEAST : sample[first];
    pivots[1] = j < (double)size ? sample[last] : MOST;
    return (last + 1 - first) * (step + 1);
}

/* Writes the window to `out` without a pass. It changes the order of `own`, or if that is NULL, of
 * a copy of x. */
static int NAME(few)(T *own, const T *x, size_t n, size_t from, size_t to, T *out, size_t *nan)
{
    T some[PLAIN], *copy = own ? own : n <= PLAIN ? some : malloc(n * sizeof(T));
    if (!copy)
        return -2;
    if (!own)
        memcpy(copy, x, n * sizeof(T));
    *nan = n - NAME(numbers)(copy, n);
    if (!*nan) {
        NAME(order)(copy, n, from, to);
        memcpy(out, copy + from, (to - from) * sizeof(T));
    }
    if (copy != own && copy != some)
        free(copy);
    return 0;
}

/* Writes the window to `out`, unless *nan numbers are NaN. A pass collects the numbers between two
 * pivots, and the same is done with these. If the pivots miss the window twice, or collect too many
 * numbers, few() does all. */
static int NAME(part)(T *own, const T *x, size_t n, size_t from, size_t to, T *out, size_t *nan)
{
    for (int missed = 0; n > PLAIN && missed < 2; missed++) {
        size_t size = SAMPLE;
        while (size * size * size / 8 < (n / 256 + 1) * n && size < MOST_SAMPLE)
            size *= 2;
        size <<= 2 * missed;
        T pivots[2], *sample = malloc(size * sizeof(T));
        if (!sample)
            return -2;
        const size_t room = NAME(pivots)(x, n, from, to, sample, size, pivots);
        free(sample);
        if (!room || room > n / 2)
            break;
        T *between = malloc((room + room / 2 + SAMPLE) * sizeof(T));
        if (!between)
            return -2;
        dpf_window_counts c;
        int status = dpf_window_pass(CODE, x, n, pivots, between, room + room / 2, &c);
        const size_t first = c.below + c.at_lo, last = first + c.between;
        *nan = c.nan;
        const int found = from >= c.below && to <= last + c.at_hi && c.between == c.kept;
        if (!status && found && !*nan) {
            size_t at = from;
            for (; at < to && at < first; at++)
                *out++ = pivots[0];
            const size_t end = to < last ? to : last;
            if (at < end) {
                status = NAME(part)(between, between, c.between, at - first, end - first, out, nan);
                out += end - at;
                at = end;
            }
            for (; at < to; at++)
                *out++ = pivots[1];
        }
        free(between);
        if (status || found || *nan)
            return status;
    }
    return NAME(few)(own, x, n, from, to, out, nan);
}

#undef NAME
#undef NAME1
#undef NAME2
#undef KIND
#undef CODE
#undef T
#undef IS_NAN
#undef LEAST
#undef MOST
