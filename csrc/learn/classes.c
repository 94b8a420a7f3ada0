#include "learn/classes.h"

#include <string.h>

#include "core/isa.h"

#define MAGIC 0x1.8p52 /* (v + MAGIC) - MAGIC is v rounded to an integer, for |v| below 2^51 */

/* Rows are prefetched this many rows before they are read. */
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
