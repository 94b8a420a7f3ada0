/* Ranks among a few values, by counting. The inner loop has no branch that depends on the
 * values. */

/* Sets found[i] to the value of rank ranks[i] < n of x, for i < 2. No value is NaN. */
static void DPF_NAME(select_few)(const double *x, size_t n, const size_t ranks[2], double found[2])
{
    int got[2] = {0, 0};
    for (size_t i = 0; !(got[0] && got[1]); i++) {
        const double v = x[i];
        int64_t below = 0, same = 0;
        for (size_t j = 0; j < n; j++) {
            below += x[j] < v;
            same += x[j] == v;
        }
        for (int r = 0; r < 2; r++)
            if ((int64_t)ranks[r] >= below && (int64_t)ranks[r] < below + same) {
                found[r] = v;
                got[r] = 1;
            }
    }
}
