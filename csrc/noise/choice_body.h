/* Writes x of each run (see noise/choice.c), or NaN if the run is excluded. */
static inline void DPF_NAME(products)(const dpf_choice_runs *runs, double ceiling, size_t at, size_t n,
                                      double *x)
{
    const double *distance = runs->distance + at;
    const double c = runs->c, slack = runs->slack;
    for (size_t i = 0; i < n; i++) {
        double near = dpf_choice_nearer(c, distance[i], slack);
        near = near < ceiling ? near : ceiling;
        x[i] = double_of(bits_of(near) | (distance[i] >= 0 ? 0 : EXCLUDED));
    }
}

/* Doubles of at least 0 are in the same order as their bits, so minima and maxima are those of
 * integers. */
static int DPF_NAME(bounds)(dpf_choice_runs *runs)
{
    double x[STRETCH];
    const size_t n = runs->n;
    uint64_t *const total = runs->total;
    uint64_t nearest = EXCLUDED, heaviest = 0;
    double ceiling = dpf_choice_ceiling(runs->c, runs->slack, 2 * DPF_CHOICE_FARTHEST);
    for (size_t at = 0; at < n; at += STRETCH) {
        size_t m = n - at < STRETCH ? n - at : STRETCH;
        DPF_NAME(products)(runs, ceiling, at, m, x);
        for (size_t i = 0; i < m; i++)
            nearest = bits_of(x[i]) < nearest ? bits_of(x[i]) : nearest;
    }
    if (nearest == EXCLUDED)
        return -1;
    if (!(double_of(nearest) <= DPF_CHOICE_FARTHEST))
        return -2;
    const int64_t lift = (int64_t)(double_of(nearest) / LN2);
    ceiling = dpf_choice_ceiling(runs->c, runs->slack, (double)(lift + DEPTH) * LN2);
    for (size_t at = 0; at < n; at += STRETCH) {
        size_t m = n - at < STRETCH ? n - at : STRETCH;
        DPF_NAME(products)(runs, ceiling, at, m, x);
        for (size_t i = 0; i < m; i++) {
            double g = dpf_choice_exp(x[i], lift);
            total[at + i] = bits_of(g) & (bits_of(x[i]) == EXCLUDED ? 0 : UINT64_MAX);
        }
        for (size_t i = 0; runs->count && i < m; i++)
            total[at + i] = bits_of(double_of(total[at + i]) * (double)runs->count[at + i]);
        for (size_t i = 0; i < m; i++)
            heaviest = total[at + i] > heaviest ? total[at + i] : heaviest;
    }
    int room = 61;
    for (size_t left = n; left; left >>= 1)
        room--;
    room = room < 50 ? room : 50;
    runs->lift = lift;
    runs->shift = room - ((int)(heaviest >> 52) - 1022);
    const double scale = (1 + 0x1p-20) * power_of_two(runs->shift);
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bound = dpf_nearest(double_of(total[i]) * scale) + 1;
        sum += bound & (total[i] ? UINT64_MAX : 0);
        total[i] = sum;
    }
    return 0;
}
