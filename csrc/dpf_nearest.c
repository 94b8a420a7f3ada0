#include "dpf_nearest.h"

#include <math.h>
#include <string.h>

#include "dpf_fetch.h"
#include "dpf_isa.h"

#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000

#if !defined(__GNUC__) && !defined(__clang__)
static int64_t nearest_bits(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
#endif

#define DPF_BODY "dpf_nearest_body.h"
#include "dpf_each_isa.h"

typedef void path(const double *, size_t, const dpf_nearest_model *, int64_t *, uint64_t *,
                  uint64_t *, double *, int64_t *, int64_t *, int64_t *);

static path *chosen(void)
{
    switch (dpf_isa()) {
#if DPF_X86
    case DPF_ISA_AVX512: return nearest_rows_avx512;
    case DPF_ISA_AVX2: return nearest_rows_avx2;
#endif
    case DPF_ISA_BASELINE: return nearest_rows_baseline;
    default: return NULL;
    }
}

int dpf_nearest(const double *rows, size_t n, const dpf_nearest_model *model, int64_t *labels,
                uint64_t *counts, uint64_t *sums, void *scratch)
{
    path *own = chosen();
    const size_t block = DPF_NEAREST_BLOCK, width = model->width;
    double *y = scratch;
    int64_t *u = (int64_t *)(y + width * block);
    if (!own)
        return -1;
    own(rows, n, model, labels, counts, sums, y, u, u + width * block, u + (width + 1) * block);
    return 0;
}
