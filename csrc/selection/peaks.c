#include "selection/peaks.h"

#include "core/isa.h"

#include <math.h>
#include <string.h>

#define DPF_BODY "selection/peaks_types.h"
#include "core/each_isa.h"

int dpf_peaks(int kind, const void *x, size_t n, size_t block, void *out)
{
    return dpf_can_read(kind) ? DPF_CHOSEN(passes)[kind](x, n, block, out) : -1;
}
