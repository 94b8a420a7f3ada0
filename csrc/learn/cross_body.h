/* Writes the codes of `count` numbers. Number j has the limits first[j] and values[j]. */
static void DPF_NAME(cross_codes)(const double *restrict x, size_t count,
                                  const double *restrict first, const double *restrict values,
                                  uint32_t *restrict codes)
{
    for (size_t j = 0; j < count; j++) {
        const double v = x[j] - first[j], most = values[j];
        const double inside = ((v >= 0.0) & (v < most)) ? v : most; /* `most` for a NaN, too */
        const int32_t code = (int32_t)inside;
        codes[j] = (uint32_t)(code + first[j] == x[j] ? code : (int32_t)most);
    }
}

/* Writes the index of the count of each code with key 0. Code j has values[j] values, and its table
 * begins at at[j]. */
static void DPF_NAME(cross_places)(const uint32_t *restrict codes, size_t count,
                                   const uint32_t *restrict values, const uint32_t *restrict at,
                                   uint32_t ways, uint32_t *restrict place)
{
    for (size_t j = 0; j < count; j++)
        place[j] = at[j] + (codes[j] < values[j] ? codes[j] : values[j]) * ways;
}
