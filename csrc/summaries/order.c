#include "summaries/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "summaries/window.h"

/* Numbers that are sorted by insertion; numbers from which on pivots come from a sample, of so
 * many. */
#define FEW 12
#define MANY 256
#define SAMPLE 32
/* Numbers up to which no pass is made; the largest sample for one; and standard deviations of its
 * error that pivots allow for. A miss costs a pass. */
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
