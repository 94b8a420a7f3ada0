#include "dpf_quantise.h"

#include <string.h>

#include "dpf_isa.h"

#define MAGIC 0x1.8p52
#define MAGIC_BITS 0x4338000000000000u
/* Values between two looks at 128 bits: TILE times 2^41 is below 2^63. */
#define TILE ((size_t)1 << 20)

static inline void add(dpf_quantise_whole *whole, uint64_t low, uint64_t high)
{
    whole->low += low;
    whole->high += high + (whole->low < low);
}

#define DPF_SUFFIX baseline
#if defined(__GNUC__) || defined(__clang__)
#define WIDE 16
#else
#define WIDE 0
#endif
#include "dpf_quantise_body.h"
#if DPF_X86
DPF_BEGIN_AVX2
#define DPF_SUFFIX avx2
#define WIDE 32
#include "dpf_quantise_body.h"
DPF_END
DPF_BEGIN_AVX512
#define DPF_SUFFIX avx512
#define WIDE 64
#include "dpf_quantise_body.h"
DPF_END
#endif

typedef struct {
    void (*sums)(const double *, size_t, const dpf_quantise_cells *, int, dpf_quantise_totals *);
    void (*each)(const double *, size_t, const dpf_quantise_cells *, uint32_t *, uint8_t *);
    void (*products)(const uint32_t *, const uint32_t *, size_t, dpf_quantise_whole *);
    void (*widen)(int, const void *, size_t, double *);
} path;

#define PATH(isa)                                                                                   \
    static const path path_##isa = {quantise_sums_##isa, quantise_each_##isa,                       \
                                    quantise_products_##isa, quantise_widen_##isa};
PATH(baseline)
#if DPF_X86
PATH(avx2)
PATH(avx512)
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

static const uint8_t sizes[DPF_QUANTISE_KINDS] = {8, 4, 8, 4, 2, 1, 8, 4, 2, 1};

/* The path for a kind; NULL if there is none. */
static const path *path_of(int kind)
{
    return kind < 0 || kind >= DPF_QUANTISE_KINDS ? NULL : chosen();
}

int dpf_quantise_sum(int kind, const void *x, size_t n, const dpf_quantise_cells *cells, int squares,
                     dpf_quantise_totals *totals)
{
    const path *own = path_of(kind);
    double buffer[DPF_QUANTISE_BLOCK];
    if (!own)
        return -1;
    const int direct = kind == DPF_QUANTISE_F64;
    const size_t most = direct ? TILE : DPF_QUANTISE_BLOCK;
    for (size_t i = 0; i < n; i += most) {
        const size_t here = n - i < most ? n - i : most;
        const void *rows = (const char *)x + i * sizes[kind];
        if (!direct)
            own->widen(kind, rows, here, buffer);
        own->sums(direct ? rows : buffer, here, cells, squares, totals);
    }
    return 0;
}

int dpf_quantise_each(int kind, const void *x, size_t n, const dpf_quantise_cells *cells,
                      uint32_t *out, uint8_t *missing)
{
    const path *own = path_of(kind);
    double buffer[DPF_QUANTISE_BLOCK];
    if (!own)
        return -1;
    for (size_t i = 0; i < n; i += DPF_QUANTISE_BLOCK) {
        const size_t here = n - i < DPF_QUANTISE_BLOCK ? n - i : DPF_QUANTISE_BLOCK;
        const void *rows = (const char *)x + i * sizes[kind];
        if (kind != DPF_QUANTISE_F64)
            own->widen(kind, rows, here, buffer);
        own->each(kind == DPF_QUANTISE_F64 ? rows : buffer, here, cells, out + i,
                  missing ? missing + i : NULL);
    }
    return 0;
}

int dpf_quantise_products(const uint32_t *a, const uint32_t *b, size_t n, dpf_quantise_whole *whole)
{
    const path *own = chosen();
    if (!own)
        return -1;
    for (size_t i = 0; i < n; i += TILE)
        own->products(a + i, b + i, n - i < TILE ? n - i : TILE, whole);
    return 0;
}

int dpf_quantise_widen(int kind, const void *x, size_t n, double *out)
{
    const path *own = path_of(kind);
    if (!own)
        return -1;
    own->widen(kind, x, n, out);
    return 0;
}
