/* Writes the codes of some numbers, each with limits of its own. */
static void DPF_NAME(cross_codes)(const double *restrict x, size_t count,
                                  const double *restrict first, const double *restrict values,
                                  uint32_t *restrict codes)
{
    for (size_t j = 0; j < count; j++) {
        const double v = x[j] - first[j], most = values[j];
        const double inside = ((v >= 0.0) & (v < most)) ? v : most; /* most for a NaN too */
        const int32_t code = (int32_t)inside;
        codes[j] = (uint32_t)(code + first[j] == x[j] ? code : (int32_t)most);
    }
}

/* Where the counts of some codes begin, for key 0: each code with limits of its own, too. */
static void DPF_NAME(cross_places)(const uint32_t *restrict codes, size_t count,
                                   const uint32_t *restrict values, const uint32_t *restrict at,
                                   uint32_t ways, uint32_t *restrict place)
{
    for (size_t j = 0; j < count; j++)
        place[j] = at[j] + (codes[j] < values[j] ? codes[j] : values[j]) * ways;
}
