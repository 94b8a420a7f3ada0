#include "core/isa.h"

#include <stdlib.h>
#include <string.h>

int dpf_isa_best(void)
{
#if DPF_X86
    __builtin_cpu_init();
    /* __builtin_cpu_supports also checks that the operating system saves the registers. Clang has
     * no name for lzcnt in it, but every processor with avx2 and bmi2 has lzcnt. */
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
        return DPF_ISA_BASELINE;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return DPF_ISA_AVX512;
    return DPF_ISA_AVX2;
#else
    return DPF_ISA_BASELINE;
#endif
}

static const char *const names[] = {"baseline", "avx2", "avx512"};

const char *dpf_isa_name(int isa)
{
    return isa >= DPF_ISA_BASELINE && isa <= DPF_ISA_AVX512 ? names[isa] : "none";
}

static int decide(void)
{
    const char *forced = getenv("DPFAST_ISA");
    int best = dpf_isa_best();
    if (forced == NULL || forced[0] == '\0')
        return best;
    for (int isa = DPF_ISA_BASELINE; isa <= best; isa++)
        if (!strcmp(forced, names[isa]))
            return isa;
    return -1;
}

int dpf_isa(void)
{
    /* If two threads get here at once, both compute and store the same value. */
    static volatile int chosen = -2;
    if (chosen == -2)
        chosen = decide();
    return chosen;
}
