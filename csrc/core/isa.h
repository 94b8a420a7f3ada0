/* Run-time choice of instruction set.
 *
 * A kernel that is faster with wider registers is written once, in a header `<name>_body.h` whose
 * functions are named DPF_NAME(f). `<name>.c` compiles it for every instruction set by
 *
 *     #define DPF_BODY "<room>/<name>_body.h"
 *     #include "core/each_isa.h"
 *
 * and calls DPF_CHOSEN(f)(...). A *path* is the code for one instruction set. Without
 * floating-point contraction, the same source makes the same IEEE operations in the same order. So
 * every path gives the same bits.
 *
 * DPFAST_ISA=baseline|avx2|avx512 in the environment forces a path. If the processor lacks it, or
 * the name is unknown, there is no path: dpf_isa() returns -1, and the caller reports an error.
 */
#ifndef DPF_ISA_H
#define DPF_ISA_H

#include <stdint.h>
#include <string.h>

#define DPF_ISA_BASELINE 0
#define DPF_ISA_AVX2 1
#define DPF_ISA_AVX512 2

#if (defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__)))
#define DPF_X86 1
#include <immintrin.h>
#else
#define DPF_X86 0
#endif

#define DPF_CAT2(a, b) a##_##b
#define DPF_CAT(a, b) DPF_CAT2(a, b)
/* The name of a function of a body, with the path for which it is being compiled. */
#define DPF_NAME(base) DPF_CAT(base, DPF_SUFFIX)
/* The same in a body that is also compiled for each type, whose name is KIND. */
#define DPF_TYPED(base) DPF_NAME(DPF_CAT(base, KIND))

#if DPF_X86
#define DPF_PRAGMA(x) _Pragma(#x)
#if defined(__clang__)
#define DPF_BEGIN_AVX2 \
    DPF_PRAGMA(clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))), apply_to = function))
#define DPF_BEGIN_AVX512 \
    DPF_PRAGMA(clang attribute push(__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512cd,avx512dq,avx512bw,avx512vl"))), apply_to = function))
#define DPF_END DPF_PRAGMA(clang attribute pop)
#else
#define DPF_BEGIN_AVX2 \
    DPF_PRAGMA(GCC push_options) DPF_PRAGMA(GCC target("avx2,bmi,bmi2,lzcnt,popcnt"))
#define DPF_BEGIN_AVX512 \
    DPF_PRAGMA(GCC push_options) \
    DPF_PRAGMA(GCC target("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512cd,avx512dq,avx512bw,avx512vl,prefer-vector-width=512"))
#define DPF_END DPF_PRAGMA(GCC pop_options)
#endif
#endif

/* The chosen path, decided once in a process; -1 if there is no path. */
int dpf_isa(void);

/* The widest path that this processor and operating system can run. */
int dpf_isa_best(void);

/* "baseline", "avx2" or "avx512". */
const char *dpf_isa_name(int isa);

/* The function or table DPF_NAME(name) of the chosen path. */
#if DPF_X86
#define DPF_CHOSEN(name)                                                                           \
    (dpf_isa() == DPF_ISA_AVX512 ? name##_avx512                                                   \
     : dpf_isa() == DPF_ISA_AVX2 ? name##_avx2                                                     \
                                 : name##_baseline)
#else
#define DPF_CHOSEN(name) name##_baseline
#endif

#endif
