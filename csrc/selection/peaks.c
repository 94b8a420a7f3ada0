#include "selection/peaks.h"

#include "core/isa.h"

#include <math.h>
#include <string.h>

#define DPF_PATH baseline
#if defined(__GNUC__) || defined(__clang__)
#define WIDE 16
#else
#define WIDE 0
#endif
#include "selection/peaks_types.h"

/* Registers of 64 bytes measured slower: nearly every load of theirs lies across two cache lines. */
#if DPF_X86
DPF_BEGIN_AVX2
#define DPF_PATH avx2
#define WIDE 32
#include "selection/peaks_types.h"
DPF_END
#endif

int dpf_peaks(int kind, const void *x, size_t n, size_t block, void *out)
{
    if (kind < 0 || kind >= DPF_DTYPES)
        return -1;
    switch (dpf_isa()) {
#if DPF_X86
    case DPF_ISA_AVX512:
    case DPF_ISA_AVX2: return passes_avx2[kind](x, n, block, out);
#endif
    case DPF_ISA_BASELINE: return passes_baseline[kind](x, n, block, out);
    default: return -1;
    }
}
