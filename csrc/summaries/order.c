#include "summaries/order.h"

/* Numbers that are sorted by insertion; numbers from which on pivots come from a sample, of so many. */
#define FEW 12
#define MANY 256
#define SAMPLE 32

#define KIND f64
#define T double
#include "summaries/order_body.h"

#define KIND f32
#define T float
#include "summaries/order_body.h"

#define KIND i64
#define T int64_t
#include "summaries/order_body.h"

#define KIND u64
#define T uint64_t
#include "summaries/order_body.h"

#define KIND i32
#define T int32_t
#include "summaries/order_body.h"

#define KIND u32
#define T uint32_t
#include "summaries/order_body.h"

void dpf_order_i32(int32_t *x, size_t n, size_t from, size_t to)
{
    order_i32(x, n, from, to);
}

int dpf_order_window(int kind, void *x, size_t n, size_t from, size_t to)
{
    switch (kind) {
    case DPF_F64: order_f64(x, n, from, to); return 0;
    case DPF_F32: order_f32(x, n, from, to); return 0;
    case DPF_I64: order_i64(x, n, from, to); return 0;
    case DPF_U64: order_u64(x, n, from, to); return 0;
    case DPF_I32: order_i32(x, n, from, to); return 0;
    case DPF_U32: order_u32(x, n, from, to); return 0;
    default: return -1;
    }
}

size_t dpf_order_f64(double *x, size_t n)
{
    size_t here = 0;
    int odd = 0;
    for (size_t i = 0; i < n; i++)
        odd |= x[i] != x[i];
    if (!odd)
        return n;
    for (size_t i = 0; i < n; i++) {
        const double v = x[i];
        x[i] = x[here];
        x[here] = v;
        here += v == v;
    }
    return here;
}

size_t dpf_order_f32(float *x, size_t n)
{
    size_t here = 0;
    int odd = 0;
    for (size_t i = 0; i < n; i++)
        odd |= x[i] != x[i];
    if (!odd)
        return n;
    for (size_t i = 0; i < n; i++) {
        const float v = x[i];
        x[i] = x[here];
        x[here] = v;
        here += v == v;
    }
    return here;
}
