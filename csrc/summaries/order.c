#include "summaries/order.h"

/* Numbers that are sorted by insertion; numbers from which on pivots come from a sample, of so many. */
#define FEW 12
#define MANY 256
#define SAMPLE 32

#define KIND f64
#define T double
#define IS_NAN(v) ((v) != (v))
#include "summaries/order_body.h"

#define KIND f32
#define T float
#define IS_NAN(v) ((v) != (v))
#include "summaries/order_body.h"

#define KIND i64
#define T int64_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

#define KIND u64
#define T uint64_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

#define KIND i32
#define T int32_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

#define KIND u32
#define T uint32_t
#define IS_NAN(v) 0
#include "summaries/order_body.h"

void dpf_order_i32(int32_t *x, size_t n, size_t from, size_t to)
{
    order_i32(x, n, from, to);
}

/* The same call for each kind; else -1. */
#define EACH(call)                                                                                 \
    switch (kind) {                                                                                \
    case DPF_F64: call(f64); break;                                                                \
    case DPF_F32: call(f32); break;                                                                \
    case DPF_I64: call(i64); break;                                                                \
    case DPF_U64: call(u64); break;                                                                \
    case DPF_I32: call(i32); break;                                                                \
    case DPF_U32: call(u32); break;                                                                \
    default: return -1;                                                                            \
    }                                                                                              \
    return 0

int dpf_order_window(int kind, void *x, size_t n, size_t from, size_t to)
{
#define ORDER(name) order_##name(x, n, from, to)
    EACH(ORDER);
}

int dpf_order_numbers(int kind, void *x, size_t n, size_t *here)
{
#define NUMBERS(name) *here = numbers_##name(x, n)
    EACH(NUMBERS);
}
