#include "summaries/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summaries/window.h"

/* Up to FEW numbers are sorted by insertion. From MANY numbers on, a pivot comes from a sample of
 * SAMPLE numbers. */
#define FEW 12
#define MANY 256
#define SAMPLE 32
/* Up to PLAIN numbers there is no pass. MOST_SAMPLE is the size of the largest sample for a pass.
 * Pivots are SPARE standard deviations of the sampling error outside of the window; if they miss
 * it, there is one more pass. */
#define PLAIN 512
#define MOST_SAMPLE 4096
#define SPARE 2.5

#define KIND f64
#define CODE DPF_F64
#define LEAST -INFINITY
#define MOST INFINITY
#define T double
#define IS_NAN(v) ((v) != (v))
#include "summaries/order_body.h"

#define KIND f32
#define CODE DPF_F32
#define LEAST -INFINITY
#define MOST INFINITY
#define T float
#define IS_NAN(v) ((v) != (v))
#include "summaries/order_body.h"

#define KIND i64
#define CODE DPF_I64
#define LEAST INT64_MIN
#define MOST INT64_MAX
#define T int64_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

#define KIND u64
#define CODE DPF_U64
#define LEAST 0
#define MOST UINT64_MAX
#define T uint64_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

#define KIND i32
#define CODE DPF_I32
#define LEAST INT32_MIN
#define MOST INT32_MAX
#define T int32_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

#define KIND u32
#define CODE DPF_U32
#define LEAST 0
#define MOST UINT32_MAX
#define T uint32_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

void dpf_order_i32(int32_t *x, size_t n, size_t from, size_t to)
{
    order_i32(x, n, from, to);
}

int dpf_order_part(int kind, const void *x, size_t n, size_t from, size_t to, void *out, size_t *nan)
{
    switch (kind) {
    case DPF_F64: return part_f64(NULL, x, n, from, to, out, nan);
    case DPF_F32: return part_f32(NULL, x, n, from, to, out, nan);
    case DPF_I64: return part_i64(NULL, x, n, from, to, out, nan);
    case DPF_U64: return part_u64(NULL, x, n, from, to, out, nan);
    case DPF_I32: return part_i32(NULL, x, n, from, to, out, nan);
    case DPF_U32: return part_u32(NULL, x, n, from, to, out, nan);
    default: return -1;
    }
}
