/* One pass over the rows of a block: loss, gradient and Hessian. Rows are read in tiles of TILE
 * rows, which are stored column by column; a loop over TILE computes all rows of a tile. */

static double DPF_NAME(logistic_dot)(const double *u, const double *v)
{
    double lane[8] = {0};
    for (int t = 0; t < TILE; t += 8)
        for (int l = 0; l < 8; l++)
            lane[l] += u[t + l] * v[t + l];
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* e[t] = exp(-|z[t]|), to about an ulp. */
static void DPF_NAME(logistic_exp)(const double *z, double *e)
{
    for (int t = 0; t < TILE; t++) {
        double a = z[t] < 0 ? z[t] : -z[t];
        a = a > -708 ? a : -708;
        e[t] = dpf_exp_below(a);
    }
}

/* Sums over n rows at `beta`, whose entry at the target's index is the intercept. Returns the loss,
 * and fills `gradient` and the upper triangle of `hessian`. None of them includes the penalty. */
static double DPF_NAME(logistic_pass)(const double *rows, size_t n, const dpf_logistic_model *model,
                                      const double *beta, double *tile, double *gradient,
                                      double *hessian)
{
    const size_t width = model->width, target = model->target;
    double loss = 0, y[TILE], z[TILE], e[TILE], rest[TILE], weight[TILE], u[TILE], one[TILE];
    memset(gradient, 0, width * sizeof *gradient);
    memset(hessian, 0, width * width * sizeof *hessian);
    for (int t = 0; t < TILE; t++)
        one[t] = 1;
    for (size_t at = 0; at < n; at += TILE) {
        const size_t count = n - at < TILE ? n - at : TILE;
        for (size_t j = 0; j < width; j++) {
            double *column = tile + j * TILE;
            for (size_t t = 0; t < count; t++)
                column[t] = rows[(at + t) * width + j];
            for (size_t t = count; t < TILE; t++)
                column[t] = 0;
        }
        memcpy(y, tile + target * TILE, sizeof y);
        for (int t = 0; t < TILE; t++)
            tile[target * TILE + (size_t)t] = model->intercept, z[t] = 0;
        for (size_t j = 0; j < width; j++)
            for (int t = 0; t < TILE; t++)
                z[t] += beta[j] * tile[j * TILE + (size_t)t];
        DPF_NAME(logistic_exp)(z, e);
        for (int t = 0; t < TILE; t++) {
            const double part = 1 / (1 + e[t]), small = e[t] * part;
            rest[t] = (z[t] < 0 ? small : part) - y[t];
            weight[t] = small * part;
            u[t] = (z[t] < 0 ? 0 : z[t]) - y[t] * z[t];
        }
        for (size_t t = count; t < TILE; t++)
            e[t] = rest[t] = weight[t] = u[t] = 0; /* the last tile may have fewer rows */
        /* One logarithm for all 64 rows: each factor is at most 2, so their product is at most
         * 2^64. */
        double lane[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        for (int t = 0; t < TILE; t += 8)
            for (int l = 0; l < 8; l++)
                lane[l] *= 1 + e[t + l];
        loss += log(lane[0] * lane[1] * lane[2] * lane[3] * lane[4] * lane[5] * lane[6] * lane[7]);
        loss += DPF_NAME(logistic_dot)(u, one);
        for (size_t i = 0; i < width; i++) {
            const double *column = tile + i * TILE;
            gradient[i] += DPF_NAME(logistic_dot)(rest, column);
            for (int t = 0; t < TILE; t++)
                u[t] = weight[t] * column[t];
            for (size_t j = i; j < width; j++)
                hessian[i * width + j] += DPF_NAME(logistic_dot)(u, tile + j * TILE);
        }
    }
    return loss;
}
