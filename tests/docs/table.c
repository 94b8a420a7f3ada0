/* Calls each function of the C interface once. `...` in the place of a generator or a buffer stands for NULL. */
#include <dpfast.h>

static PyObject *or_null(PyObject *one)
{
    return one == Py_Ellipsis ? NULL : one;
}

static PyObject *answer(int status, PyObject *made)
{
    if (status == 0 && !PyErr_Occurred())
        return made;
    Py_DECREF(made);
    if (status != -1 || !PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "neither 0, nor -1 with an exception");
    return NULL;
}

/* (rng, number, number, n, where to write): bytes, of which there are size * n if that is `None`. */
static PyObject *draw(PyObject *args, Py_ssize_t size, int which)
{
    PyObject *rng, *where;
    double scale, grid;
    Py_ssize_t n;
    if (!PyArg_ParseTuple(args, "OddnO", &rng, &scale, &grid, &n, &where))
        return NULL;
    PyObject *made = PyBytes_FromStringAndSize(NULL, n > 0 ? n * size : 0);
    if (made == NULL)
        return NULL;
    void *out = where == Py_Ellipsis ? NULL : PyBytes_AS_STRING(made);
    rng = or_null(rng);
    switch (which) {
    case 0: return answer(dpfast_bits(rng, out, n), made);
    case 1: return answer(dpfast_laplace(rng, scale, grid, out, n), made);
    case 2: return answer(dpfast_gaussian(rng, scale, grid, out, n), made);
    case 3: return answer(dpfast_discrete_laplace(rng, scale, out, n), made);
    default: return answer(dpfast_discrete_gaussian(rng, scale, out, n), made);
    }
}

static PyObject *bits(PyObject *self, PyObject *args) { return draw(args, 1, 0); }
static PyObject *laplace(PyObject *self, PyObject *args) { return draw(args, 8, 1); }
static PyObject *gaussian(PyObject *self, PyObject *args) { return draw(args, 8, 2); }
static PyObject *discrete_laplace(PyObject *self, PyObject *args) { return draw(args, 8, 3); }
static PyObject *discrete_gaussian(PyObject *self, PyObject *args) { return draw(args, 8, 4); }

static const void *buffer(PyObject *bytes)
{
    return PyBytes_Check(bytes) ? PyBytes_AS_STRING(bytes) : NULL;
}

/* (rng, distances, counts, runs, c, n, where to write) */
static PyObject *choose(PyObject *self, PyObject *args)
{
    PyObject *rng, *distance, *count, *where;
    Py_ssize_t runs, n;
    double c;
    if (!PyArg_ParseTuple(args, "OOOndnO", &rng, &distance, &count, &runs, &c, &n, &where))
        return NULL;
    PyObject *made = PyBytes_FromStringAndSize(NULL, 8 * n);
    if (made == NULL)
        return NULL;
    void *out = where == Py_Ellipsis ? NULL : PyBytes_AS_STRING(made);
    return answer(dpfast_choose(or_null(rng), buffer(distance), buffer(count), runs, c, out, n), made);
}

/* (values, whether they are floats, how many, from, to, where to write) */
static PyObject *ranks(PyObject *self, PyObject *args)
{
    PyObject *x, *where;
    Py_ssize_t n, from, to;
    int floats;
    if (!PyArg_ParseTuple(args, "OpnnnO", &x, &floats, &n, &from, &to, &where))
        return NULL;
    PyObject *made = PyBytes_FromStringAndSize(NULL, to > from ? 8 * (to - from) : 0);
    if (made == NULL)
        return NULL;
    void *out = where == Py_Ellipsis ? NULL : PyBytes_AS_STRING(made);
    if (floats)
        return answer(dpfast_ranks_f64(buffer(x), n, from, to, out), made);
    return answer(dpfast_ranks_i64(buffer(x), n, from, to, out), made);
}

static PyMethodDef methods[] = {
    {"bits", bits, METH_VARARGS, NULL},
    {"laplace", laplace, METH_VARARGS, NULL},
    {"gaussian", gaussian, METH_VARARGS, NULL},
    {"discrete_laplace", discrete_laplace, METH_VARARGS, NULL},
    {"discrete_gaussian", discrete_gaussian, METH_VARARGS, NULL},
    {"choose", choose, METH_VARARGS, NULL},
    {"ranks", ranks, METH_VARARGS, NULL},
    {0},
};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "table", NULL, -1, methods};

PyMODINIT_FUNC PyInit_table(void)
{
    return dpfast_import() < 0 ? NULL : PyModule_Create(&module);
}
