#include "learn/box.h"

#include <stdint.h>

#include "core/fetch.h"

#define MAGIC 0x1.8p52 /* (v + MAGIC) - MAGIC is v rounded to an integer, for |v| below 2^51 */

#define DPF_BODY "learn/box_body.h"
#include "core/each_isa.h"

int dpf_box(const double *x, size_t n, size_t width, const dpf_box_limits *limits, double *out,
            size_t *nan)
{
    *nan = 0;
    if (dpf_isa() < 0)
        return -1;
    for (size_t at = 0; at < n; at += limits->rows) {
        const size_t here = dpf_stretch(x + at * width, n - at, limits->rows, width);
        *nan += DPF_CHOSEN(box)(x + at * width, here * width, limits, out + at * width);
    }
    return 0;
}
