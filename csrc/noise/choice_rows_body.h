/* Writes the running sums of the bounds of one row, and returns their sum. */
static inline uint64_t DPF_NAME(sums)(const double *values, double best, double c, double slack, size_t n,
                                      uint64_t *total)
{
    const double ceiling = dpf_choice_ceiling(c, slack, MOST);
    for (size_t j = 0; j < n; j++) {
        double x = dpf_choice_nearer(c, best - values[j], slack);
        uint64_t bound = dpf_nearest(dpf_choice_exp(x < ceiling ? x : ceiling, 0) * SCALE) + 1;
        total[j] = bound & (bits_of(values[j]) == MINUS_INFINITY ? 0 : UINT64_MAX);
    }
    uint64_t sum = 0;
    for (size_t j = 0; j < n; j++)
        total[j] = sum += total[j];
    return sum;
}

static size_t DPF_NAME(rows)(const dpf_choice_matrix *in, dpf_words *words, size_t draws, uint64_t *scratch,
                             int64_t *out, size_t from, uint64_t *bound, uint64_t *word)
{
    const size_t n = in->n;
    for (size_t row = draws ? from / draws : in->rows; row < in->rows; row++) {
        const double *values = in->values + row * n;
        uint64_t sum = DPF_NAME(sums)(values, in->best[row], in->c, in->slack, n, scratch);
        if (sum == 0)
            return DPF_CHOICE_EMPTY;
        for (; from < (row + 1) * draws; from++) {
            int verdict;
            do {
                size_t j = dpf_choice_find(scratch, n, dpf_words_below(words, sum));
                out[from] = (int64_t)j;
                *bound = dpf_choice_bound(scratch, j);
                *word = dpf_words_one(words);
                verdict = dpf_choice_verdict(*word, in->c, in->best[row] - values[j], in->slack, 0,
                                             (double)(UINT64_C(1) << DPF_CHOICE_ROWS_SHIFT) / (double)*bound);
            } while (verdict == DPF_CHOICE_NO);
            if (verdict == DPF_CHOICE_OPEN)
                return from;
        }
    }
    return in->rows * draws;
}

/* Flips the coins of one row. Returns how many are undecided. */
static inline size_t DPF_NAME(flip)(const double *values, double best, double c, size_t n,
                                    const uint64_t *drawn, uint8_t *heads)
{
    size_t open = 0;
    const double ceiling = dpf_choice_ceiling(c, 0, MOST);
    for (size_t j = 0; j < n; j++) {
        double d = best - values[j], x = c * d;
        double t = dpf_choice_exp(x < ceiling ? x : ceiling, 0) * 0x1p53;
        double k = to_double(drawn[j] >> 11);
        /* Comparisons by sign bits, so that there is no branch. */
        uint64_t yes = ~bits_of((t * (1 - 0x1p-24) - 1) - k) >> 63;
        uint64_t perhaps = bits_of(k - t * (1 + 0x1p-24)) >> 63;
        uint64_t sure = bits_of(d) == 0 ? 3 : 0;
        uint64_t within = bits_of(values[j]) == MINUS_INFINITY ? 0 : 3;
        heads[j] = (uint8_t)((yes | perhaps << 1 | sure) & within);
    }
    /* 3 is heads, and 2 is undecided. */
    for (size_t j = 0; j < n; j++)
        open += heads[j] == 2;
    if (open) {
        open = 0;
        for (size_t j = 0; j < n; j++) {
            if (heads[j] == 2)
                heads[j] = (uint8_t)dpf_choice_verdict(drawn[j], c, best - values[j], 0.0, 0, 1.0);
            open += heads[j] == DPF_CHOICE_OPEN;
        }
    }
    for (size_t j = 0; j < n; j++)
        heads[j] = heads[j] == 3 ? DPF_CHOICE_YES : heads[j];
    return open;
}

static size_t DPF_NAME(subset)(const dpf_choice_matrix *in, dpf_words *words, uint64_t *drawn,
                               uint8_t *heads, int decided, int64_t *out, size_t from)
{
    const size_t n = in->n;
    for (size_t row = from; row < in->rows; row++) {
        if (!decided) {
            dpf_words_fill(words, drawn, n);
            if (DPF_NAME(flip)(in->values + row * n, in->best[row], in->c, n, drawn, heads))
                return row;
        }
        decided = 0;
        uint64_t count = 0;
        for (size_t j = 0; j < n; j++)
            count += heads[j] == DPF_CHOICE_YES;
        if (count == 0)
            return DPF_CHOICE_EMPTY;
        uint64_t left = dpf_words_below(words, count);
        size_t j = 0;
        while (heads[j] != DPF_CHOICE_YES || left--)
            j++;
        out[row] = (int64_t)j;
    }
    return in->rows;
}
