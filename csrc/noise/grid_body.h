/* Writes m - d and the row of the table for each word. */
static inline void DPF_NAME(locate)(const uint64_t *words, size_t n, double knee, double *delta,
                                    int64_t *row)
{
    const uint64_t low = (UINT64_C(1) << (52 - DPF_GRID_SPLIT)) - 1;
    for (size_t i = 0; i < n; i++) {
        double d = to_double(words[i] >> 1);
        d = d > DPF_GRID_FLOOR ? d : DPF_GRID_FLOOR;
        d = d < DPF_GRID_TOP ? d : DPF_GRID_TOP;
        uint64_t b = bits_of(d);
        double middle = double_of((b & ~low) | (low / 2 + 1));
        delta[i] = middle - d;
        row[i] = (int64_t)(b >> (52 - DPF_GRID_SPLIT)) - DPF_GRID_FIRST + (d >= knee);
    }
}

/* Writes the quantile of each m - d and row, by Horner's rule, and its bound. */
static inline void DPF_NAME(quantile)(const double *rows, const double *delta, const int64_t *row,
                                      size_t n, double *z, double *bound)
{
    size_t i = 0;
#if DPF_LEVEL == DPF_ISA_AVX512
    /* Eight rows are eight cache lines. Each is loaded whole, and they are transposed; gathering
     * single coefficients would be slower. */
    for (; i + 8 <= n; i += 8) {
        __m512d r[8], s[8];
        for (int j = 0; j < 8; j++)
            r[j] = _mm512_load_pd(rows + DPF_GRID_WIDTH * row[i + j]);
        for (int j = 0; j < 8; j += 2) {
            s[j] = _mm512_unpacklo_pd(r[j], r[j + 1]);
            s[j + 1] = _mm512_unpackhi_pd(r[j], r[j + 1]);
        }
        for (int j = 0; j < 8; j += 4) {
            for (int h = 0; h < 2; h++) {
                r[j + h] = _mm512_shuffle_f64x2(s[j + h], s[j + 2 + h], 0x88);
                r[j + 2 + h] = _mm512_shuffle_f64x2(s[j + h], s[j + 2 + h], 0xdd);
            }
        }
        __m512d c[8];
        for (int h = 0; h < 4; h++) { /* r[h]: columns h and h + 4 of rows 0..3; r[4 + h]: of rows 4..7 */
            c[h] = _mm512_shuffle_f64x2(r[h], r[4 + h], 0x88);
            c[h + 4] = _mm512_shuffle_f64x2(r[h], r[4 + h], 0xdd);
        }
        __m512d x = _mm512_loadu_pd(delta + i), v = c[6];
        for (int j = 5; j >= 0; j--)
            v = _mm512_add_pd(_mm512_mul_pd(v, x), c[j]);
        _mm512_storeu_pd(z + i, v);
        _mm512_storeu_pd(bound + i, c[7]);
    }
#elif DPF_LEVEL == DPF_ISA_AVX2
    /* The same with four rows of two registers each. */
    for (; i + 4 <= n; i += 4) {
        __m256d c[8];
        for (int h = 0; h < 8; h += 4) {
            __m256d r0 = _mm256_load_pd(rows + DPF_GRID_WIDTH * row[i] + h);
            __m256d r1 = _mm256_load_pd(rows + DPF_GRID_WIDTH * row[i + 1] + h);
            __m256d r2 = _mm256_load_pd(rows + DPF_GRID_WIDTH * row[i + 2] + h);
            __m256d r3 = _mm256_load_pd(rows + DPF_GRID_WIDTH * row[i + 3] + h);
            __m256d even01 = _mm256_unpacklo_pd(r0, r1), odd01 = _mm256_unpackhi_pd(r0, r1);
            __m256d even23 = _mm256_unpacklo_pd(r2, r3), odd23 = _mm256_unpackhi_pd(r2, r3);
            c[h] = _mm256_permute2f128_pd(even01, even23, 0x20);
            c[h + 1] = _mm256_permute2f128_pd(odd01, odd23, 0x20);
            c[h + 2] = _mm256_permute2f128_pd(even01, even23, 0x31);
            c[h + 3] = _mm256_permute2f128_pd(odd01, odd23, 0x31);
        }
        __m256d x = _mm256_loadu_pd(delta + i), v = c[6];
        for (int j = 5; j >= 0; j--)
            v = _mm256_add_pd(_mm256_mul_pd(v, x), c[j]);
        _mm256_storeu_pd(z + i, v);
        _mm256_storeu_pd(bound + i, c[7]);
    }
#endif
    for (; i < n; i++) {
        const double *c = rows + DPF_GRID_WIDTH * row[i];
        double x = delta[i], v = c[6];
        v = v * x + c[5];
        v = v * x + c[4];
        v = v * x + c[3];
        v = v * x + c[2];
        v = v * x + c[1];
        v = v * x + c[0];
        z[i] = v;
        bound[i] = c[7];
    }
}

/* Returns the words of m <= DPF_GRID_BLOCK samples: those of `given` from index `from` on, or new
 * ones in `drawn`. Writes the quantiles of the words, and a bound on the error of each. */
static inline const uint64_t *DPF_NAME(draw)(dpf_rng *rng, const uint64_t *given,
                                             const dpf_grid_table *table, uint64_t *drawn,
                                             size_t from, size_t m, double *z, double *bound)
{
    double delta[DPF_GRID_BLOCK];
    int64_t row[DPF_GRID_BLOCK];
    const uint64_t *words = given ? given + from : drawn;
    if (!given)
        dpf_rng_fill(rng, drawn, m * sizeof *drawn);
    DPF_NAME(locate)(words, m, table->knee, delta, row);
    DPF_NAME(quantile)(table->rows, delta, row, m, z, bound);
    return words;
}

/* Appends the undecided samples, whose margin is not above 0, in order. Returns their new
 * number. */
static inline size_t DPF_NAME(report)(const double *margin, const uint64_t *words, size_t n, size_t at,
                                      int64_t *lane, uint64_t *word, size_t found)
{
    size_t bad = 0;
    for (size_t i = 0; i < n; i++)
        bad += !(margin[i] > 0);
    for (size_t i = 0; bad; i++) {
        if (!(margin[i] > 0)) {
            lane[found] = (int64_t)(at + i);
            word[found++] = words[i];
            bad--;
        }
    }
    return found;
}

static size_t DPF_NAME(grid)(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                             const dpf_grid_input *in, double *out, size_t from, size_t n, int64_t *lane,
                             uint64_t *word, size_t room, size_t *found)
{
    uint64_t drawn[DPF_GRID_BLOCK];
    double z[DPF_GRID_BLOCK], bound[DPF_GRID_BLOCK], margin[DPF_GRID_BLOCK];
    double same[4][DPF_GRID_BLOCK];
    const double *source[4] = {in->ratio, in->grid, in->frac, in->whole};
    const int stride[4] = {in->ratio_stride, in->grid_stride, in->frac_stride, in->whole_stride};
    size_t most = n - from < DPF_GRID_BLOCK ? n - from : DPF_GRID_BLOCK;
    for (int a = 0; a < 4; a++)
        for (size_t i = 0; !stride[a] && i < most; i++)
            same[a][i] = source[a][0];
    *found = 0;
    while (from < n && room - *found >= DPF_GRID_BLOCK) {
        size_t m = n - from < DPF_GRID_BLOCK ? n - from : DPF_GRID_BLOCK;
        const uint64_t *words = DPF_NAME(draw)(rng, given, table, drawn, from, m, z, bound);
        const double *ratio = stride[0] ? source[0] + from : same[0];
        const double *grid = stride[1] ? source[1] + from : same[1];
        const double *frac = stride[2] ? source[2] + from : same[2];
        const double *whole = stride[3] ? source[3] + from : same[3];
        for (size_t i = 0; i < m; i++) {
            double y = ratio[i] * z[i];
            double e = (ratio[i] * bound[i] + Y_ERROR * magnitude(y)) + Y_FLOOR;
            y = double_of(bits_of(y) ^ (words[i] << 63)) + frac[i];
            double r = nearest(y);
            margin[i] = (0.5 - e) - magnitude(y - r);
            out[from + i] = (r + whole[i]) * grid[i];
        }
        *found = DPF_NAME(report)(margin, words, m, from, lane, word, *found);
        from += m;
    }
    if (!given)
        wipe(drawn, sizeof drawn);
    return from;
}

static size_t DPF_NAME(integers)(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                                 double ratio, double frac, int64_t *out, size_t from, size_t n,
                                 int64_t *lane, uint64_t *word, size_t room, size_t *found)
{
    uint64_t drawn[DPF_GRID_BLOCK];
    double z[DPF_GRID_BLOCK], bound[DPF_GRID_BLOCK], margin[DPF_GRID_BLOCK];
    *found = 0;
    while (from < n && room - *found >= DPF_GRID_BLOCK) {
        size_t m = n - from < DPF_GRID_BLOCK ? n - from : DPF_GRID_BLOCK;
        const uint64_t *words = DPF_NAME(draw)(rng, given, table, drawn, from, m, z, bound);
        for (size_t i = 0; i < m; i++) {
            double y = ratio * z[i];
            double e = (ratio * bound[i] + 2 * Y_ERROR * magnitude(y)) + Y_FLOOR;
            y = y + frac;
            double r = nearest(y);
            margin[i] = (0.5 - e) - magnitude(y - r);
            int64_t whole = to_integer(r);
            whole = whole > 0 ? whole : 0;
            int64_t sign = -(int64_t)(words[i] & 1);
            out[from + i] = (whole ^ sign) - sign;
        }
        *found = DPF_NAME(report)(margin, words, m, from, lane, word, *found);
        from += m;
    }
    if (!given)
        wipe(drawn, sizeof drawn);
    return from;
}

static size_t DPF_NAME(accept)(dpf_rng *rng, const uint64_t *given, const dpf_grid_table *table,
                               const int64_t *y, double centre, double half_precision, uint64_t *drawn,
                               uint8_t *keep, size_t n)
{
    double z[DPF_GRID_BLOCK], bound[DPF_GRID_BLOCK];
    const double slope = GAMMA_SLOPE * centre * half_precision;
    size_t open = 0;
    for (size_t from = 0; from < n; from += DPF_GRID_BLOCK) {
        size_t m = n - from < DPF_GRID_BLOCK ? n - from : DPF_GRID_BLOCK;
        const uint64_t *words =
            DPF_NAME(draw)(rng, given, table, drawn + from, from, m, z, bound);
        if (given)
            memcpy(drawn + from, words, m * sizeof *drawn);
        for (size_t i = 0; i < m; i++) {
            double d = magnitude(to_real(y[from + i])) - centre;
            double gamma = d * d * half_precision;
            double e = (bound[i] + GAMMA_ERROR * gamma) + (slope * magnitude(d) + GAMMA_FLOOR);
            double margin = z[i] - gamma;
            int above = margin > e, below = margin < -e;
            keep[from + i] = (uint8_t)(above ? 1 : below ? 0 : 2);
            open += !(above | below);
        }
    }
    return open;
}
