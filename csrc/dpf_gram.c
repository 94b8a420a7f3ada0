#include "dpf_gram.h"

#include <string.h>

#include "dpf_isa.h"

#define DPF_BODY "dpf_gram_body.h"
#include "dpf_each_isa.h"

typedef struct {
    size_t lanes;
    void (*add)(const double *, size_t, size_t, double *);
} path;

#if defined(__GNUC__) || defined(__clang__)
static const path path_baseline = {2, gram_add_baseline};
#else
static const path path_baseline = {1, gram_add_baseline};
#endif
#if DPF_X86
static const path path_avx2 = {4, gram_add_avx2};
static const path path_avx512 = {8, gram_add_avx512};
#endif

static const path *chosen(void)
{
    switch (dpf_isa()) {
#if DPF_X86
    case DPF_ISA_AVX512: return &path_avx512;
    case DPF_ISA_AVX2: return &path_avx2;
#endif
    case DPF_ISA_BASELINE: return &path_baseline;
    default: return NULL;
    }
}

int dpf_gram(const double *rows, size_t n, size_t width, const dpf_box_limits *limits,
             int64_t *sums, int64_t *products, double *scratch, size_t *done)
{
    const path *own = chosen();
    *done = 0;
    if (!own)
        return -1;
    /* Products of each column with all, 8 columns beyond the last, and sums: vectors, aligned. */
    const size_t wide = (width + own->lanes - 1) / own->lanes * own->lanes, high = (width + 7) / 8 * 8;
    double *found = (double *)(((uintptr_t)scratch + 63) & ~(uintptr_t)63);
    double *z = found + (high + 1) * wide;
    memset(z + DPF_GRAM_BLOCK * width, 0, 15 * sizeof *z);
    for (size_t at = 0; at < n; at += DPF_GRAM_ROWS) {
        const size_t here = n - at < DPF_GRAM_ROWS ? n - at : DPF_GRAM_ROWS;
        size_t nan, some = 0;
        memset(found, 0, (high + 1) * wide * sizeof *found);
        for (size_t r = 0; r < here; r += DPF_GRAM_BLOCK) {
            const size_t block = here - r < DPF_GRAM_BLOCK ? here - r : DPF_GRAM_BLOCK;
            dpf_box(rows + (at + r) * width, block, width, limits, z, &nan);
            some += nan;
            own->add(z, block, width, found);
        }
        if (some)
            return 0;
        for (size_t i = 0; i < width; i++) {
            sums[i] += (int64_t)found[high * wide + i];
            for (size_t j = i; j < width; j++)
                products[i * width + j] += (int64_t)found[i * wide + j];
        }
        *done += here;
    }
    return 0;
}
