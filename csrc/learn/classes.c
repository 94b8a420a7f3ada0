#include "learn/classes.h"

#include <string.h>

#include "core/isa.h"

#define MAGIC 0x1.8p52 /* added to a number below 2^51 in size, it leaves the nearest integer */

/* Rows between what is read from memory and what is worked on. */
#define AHEAD 64

#define DPF_BODY "learn/classes_body.h"
#include "core/each_isa.h"

int dpf_classes(const double *x, size_t n, size_t width, const dpf_classes_limits *limits,
                const uint32_t *key, uint32_t keys, double *sums, size_t *nan)
{
    if (dpf_isa() < 0)
        return -1;
    *nan = DPF_CHOSEN(classes)(x, n, width, limits, key, keys, sums);
    return 0;
}
