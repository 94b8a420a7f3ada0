/* Peaks of every type, and a table of these functions. Registers of 64 bytes were slower, because
 * nearly every load of 64 bytes is in two cache lines. */
#if DPF_LEVEL == DPF_ISA_AVX512
#define passes_avx512 passes_avx2
#else
#define WIDE DPF_VECTOR

#define KIND f64
#define TYPE double
#define TRUTH int64_t
#define LOWEST (-(double)INFINITY)
#define IS_FLOAT 1
#include "selection/peaks_body.h"

#define KIND f32
#define TYPE float
#define TRUTH int32_t
#define LOWEST (-INFINITY)
#define IS_FLOAT 1
#include "selection/peaks_body.h"

#define KIND i64
#define TYPE int64_t
#define TRUTH int64_t
#define LOWEST INT64_MIN
#define IS_FLOAT 0
#include "selection/peaks_body.h"

#define KIND i32
#define TYPE int32_t
#define TRUTH int32_t
#define LOWEST INT32_MIN
#define IS_FLOAT 0
#include "selection/peaks_body.h"

#define KIND i16
#define TYPE int16_t
#define TRUTH int16_t
#define LOWEST INT16_MIN
#define IS_FLOAT 0
#include "selection/peaks_body.h"

#define KIND i8
#define TYPE int8_t
#define TRUTH int8_t
#define LOWEST INT8_MIN
#define IS_FLOAT 0
#include "selection/peaks_body.h"

#define KIND u64
#define TYPE uint64_t
#define TRUTH int64_t
#define LOWEST ((uint64_t)0)
#define IS_FLOAT 0
#include "selection/peaks_body.h"

#define KIND u32
#define TYPE uint32_t
#define TRUTH int32_t
#define LOWEST ((uint32_t)0)
#define IS_FLOAT 0
#include "selection/peaks_body.h"

#define KIND u16
#define TYPE uint16_t
#define TRUTH int16_t
#define LOWEST ((uint16_t)0)
#define IS_FLOAT 0
#include "selection/peaks_body.h"

#define KIND u8
#define TYPE uint8_t
#define TRUTH int8_t
#define LOWEST ((uint8_t)0)
#define IS_FLOAT 0
#include "selection/peaks_body.h"

static int (*const DPF_NAME(passes)[DPF_DTYPES])(const void *, size_t, size_t, void *) = {
    [DPF_F64] = DPF_NAME(peaks_f64), [DPF_F32] = DPF_NAME(peaks_f32),
    [DPF_I64] = DPF_NAME(peaks_i64), [DPF_I32] = DPF_NAME(peaks_i32),
    [DPF_I16] = DPF_NAME(peaks_i16), [DPF_I8] = DPF_NAME(peaks_i8),
    [DPF_U64] = DPF_NAME(peaks_u64), [DPF_U32] = DPF_NAME(peaks_u32),
    [DPF_U16] = DPF_NAME(peaks_u16), [DPF_U8] = DPF_NAME(peaks_u8),
};
#undef WIDE
#endif
