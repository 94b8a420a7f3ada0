#include "dpf_isa.h"

#include <stdlib.h>
#include <string.h>

static int best(void)
{
#if DPF_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return DPF_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"))
        return DPF_ISA_AVX2;
#endif
    return DPF_ISA_BASELINE;
}

static int decide(void)
{
    const char *forced = getenv("DPFAST_ISA");
    int have = best();
    if (forced == NULL || forced[0] == '\0')
        return have;
    int want = !strcmp(forced, "baseline") ? DPF_ISA_BASELINE
             : !strcmp(forced, "avx2")     ? DPF_ISA_AVX2
             : !strcmp(forced, "avx512")   ? DPF_ISA_AVX512
                                           : -1;
    return want > have ? -1 : want;
}

int dpf_isa(void)
{
    /* Two threads that race here compute and store the same value. */
    static volatile int chosen = -2;
    if (chosen == -2)
        chosen = decide();
    return chosen;
}
