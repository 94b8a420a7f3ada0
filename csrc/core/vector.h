/* Vectors of the compiler, for a body that includes this header: VEC has LANES float64, INT and
 * BITS have as many integers. If the compiler has no vectors, they are plain numbers. At its end
 * the body includes core/vector_end.h, which undefines these names. */
#if DPF_VECTOR
#define LANES (DPF_VECTOR / 8)
typedef double DPF_NAME(vec) __attribute__((vector_size(DPF_VECTOR)));
typedef int64_t DPF_NAME(vec_int) __attribute__((vector_size(DPF_VECTOR)));
typedef uint64_t DPF_NAME(vec_bits) __attribute__((vector_size(DPF_VECTOR)));
#define VEC DPF_NAME(vec)
#define INT DPF_NAME(vec_int)
#define BITS DPF_NAME(vec_bits)
#define PICK(truth, a, b) (VEC)(((INT)(a) & (INT)(truth)) | ((INT)(b) & ~(INT)(truth)))
#else
#define LANES 1
#define VEC double
#define INT int64_t
#define PICK(truth, a, b) ((truth) ? (a) : (b))
#endif
#define ALL(a) ((a) - (VEC){0})

static inline VEC DPF_NAME(vec_load)(const double *from)
{
    VEC v;
    memcpy(&v, from, sizeof v);
    return v;
}
