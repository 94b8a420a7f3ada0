/* The C interface of dpfast: random bits, exact noise, exact choices and ranks.
 *
 * Call dpfast_import() once, where the module is made. Every function needs the GIL (it lets it go while
 * it draws many samples), and returns 0, or -1 with a Python exception set. Then what is in `out` means
 * nothing. NULL is such an error for a generator, and for a buffer of more than 0 places.
 *
 * A generator is a dpfast.rng.SecureGenerator, or an InsecureGenerator, whose bits are those that the
 * Python functions of the same name get. Py_None is the secure generator of the thread.
 *
 * NOT PRIVATE by themselves: no budget is asked.
 */
#ifndef DPFAST_H
#define DPFAST_H

#include <Python.h>
#include <stdint.h>

/* One more whenever a signature or a meaning changes, or the table grows. */
#define DPFAST_ABI_VERSION 1

typedef struct {
    unsigned version;
    int (*bits)(PyObject *rng, void *out, Py_ssize_t bytes);
    int (*laplace)(PyObject *rng, double scale, double granularity, double *out, Py_ssize_t n);
    int (*gaussian)(PyObject *rng, double scale, double granularity, double *out, Py_ssize_t n);
    int (*discrete_laplace)(PyObject *rng, double scale, int64_t *out, Py_ssize_t n);
    int (*discrete_gaussian)(PyObject *rng, double sigma, int64_t *out, Py_ssize_t n);
    int (*choose)(PyObject *rng, const double *distance, const int64_t *count, Py_ssize_t runs, double c,
                  int64_t *out, Py_ssize_t n);
    int (*ranks_f64)(const double *x, Py_ssize_t n, Py_ssize_t from, Py_ssize_t to, double *out);
    int (*ranks_i64)(const int64_t *x, Py_ssize_t n, Py_ssize_t from, Py_ssize_t to, int64_t *out);
} dpfast_table;

#ifndef DPFAST_NO_IMPORT

static const dpfast_table *dpfast_functions = NULL;

/* The next bytes of the stream. */
#define dpfast_bits (*dpfast_functions->bits)
/* n samples, correctly rounded to multiples of granularity: a power of two, at least scale * 2^-52; 0 means
 * the default of Python, which suits a public scale only. */
#define dpfast_laplace (*dpfast_functions->laplace)
#define dpfast_gaussian (*dpfast_functions->gaussian)
/* n integers; the scale is taken as the exact binary number that it is. */
#define dpfast_discrete_laplace (*dpfast_functions->discrete_laplace)
#define dpfast_discrete_gaussian (*dpfast_functions->discrete_gaussian)
/* n indices in exact proportion to count[i] e^(-c distance[i]). A negative distance is never chosen; count
 * may be NULL, which means 1 each, and is 2^53 at most; c * the least distance is 2^30 at most. */
#define dpfast_choose (*dpfast_functions->choose)
/* What sorting would put into x[from .. to), 0 <= from <= to <= n; x stays as it is and holds no NaN. */
#define dpfast_ranks_f64 (*dpfast_functions->ranks_f64)
#define dpfast_ranks_i64 (*dpfast_functions->ranks_i64)

static int dpfast_import(void)
{
    /* PyCapsule_Import leaves out the module of a package that is not yet loaded. */
    PyObject *module = PyImport_ImportModule("dpfast.native");
    const dpfast_table *found;
    if (module == NULL)
        return -1;
    Py_DECREF(module);
    found = (const dpfast_table *)PyCapsule_Import("dpfast.native._C_API", 0);
    if (found == NULL)
        return -1;
    if (found->version != DPFAST_ABI_VERSION) {
        PyErr_Format(PyExc_ImportError,
                     "this module was compiled for version %u of the C interface of dpfast, and the "
                     "dpfast that is installed has version %u: compile it again",
                     (unsigned)DPFAST_ABI_VERSION, found->version);
        return -1;
    }
    dpfast_functions = found;
    return 0;
}

#endif
#endif
