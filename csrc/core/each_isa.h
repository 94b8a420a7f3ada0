/* Compiles the header whose name is DPF_BODY once for each instruction set; see core/isa.h. In the
 * body DPF_LEVEL is the instruction set, and DPF_VECTOR the bytes in a vector of the compiler, or 0
 * if it has no vectors. */
#include "core/isa.h"

#define DPF_SUFFIX baseline
#define DPF_LEVEL DPF_ISA_BASELINE
#if defined(__GNUC__) || defined(__clang__)
#define DPF_VECTOR 16
#else
#define DPF_VECTOR 0
#endif
#include DPF_BODY
#undef DPF_VECTOR
#undef DPF_LEVEL
#undef DPF_SUFFIX

#if DPF_X86
DPF_BEGIN_AVX2
#define DPF_SUFFIX avx2
#define DPF_LEVEL DPF_ISA_AVX2
#define DPF_VECTOR 32
#include DPF_BODY
#undef DPF_VECTOR
#undef DPF_LEVEL
#undef DPF_SUFFIX
DPF_END

DPF_BEGIN_AVX512
#define DPF_SUFFIX avx512
#define DPF_LEVEL DPF_ISA_AVX512
#define DPF_VECTOR 64
#include DPF_BODY
#undef DPF_VECTOR
#undef DPF_LEVEL
#undef DPF_SUFFIX
DPF_END
#endif

#undef DPF_BODY
