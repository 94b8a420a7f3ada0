"""Build `csrc/*/*.c` into one static library and each `dpfast/_kernels/*.pyx` into a module.

Everything is found by glob, so a new kernel needs no edit here. There is no pure-Python
fallback: a failing compiler fails the installation. No flag lets a compiler change a
floating-point result, and none ties the binary to the machine that built it; the wider
instruction sets are chosen at run time (see `csrc/core/isa.h`).

Environment: `DPFAST_SANITIZE=1` builds with AddressSanitizer and UndefinedBehaviorSanitizer.
"""

import os
import sys
from glob import glob
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup

MSVC = sys.platform == "win32"
cflags = (
    ["/O2", "/fp:strict"]
    if MSVC
    else [
        "-O3",
        "-std=c11",
        "-ffp-contract=off",
        "-fno-fast-math",
        "-fvisibility=hidden",
        "-fPIC",
        "-g0",
    ]
)
ldflags: list[str] = []
if os.environ.get("DPFAST_SANITIZE") == "1":
    sanitize = ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]
    cflags += [*sanitize, "-g", "-O1", "-fno-omit-frame-pointer"]
    ldflags += sanitize

sources = sorted(glob("csrc/*/*.c"))
headers = sorted(glob("csrc/*/*.h"))
include = ["csrc", numpy.get_include()]

extensions = [
    Extension(
        f"dpfast._kernels.{Path(pyx).stem}",
        [pyx],
        include_dirs=include,
        depends=sources + headers,
        extra_compile_args=cflags,
        extra_link_args=ldflags,
        libraries=[] if MSVC else ["m"],
        define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
    )
    for pyx in sorted(glob("dpfast/_kernels/*.pyx"))
]

setup(
    options={} if MSVC else {"build_ext": {"parallel": os.cpu_count()}},
    libraries=[
        (
            "dpfast_core",
            {
                "sources": sources,
                "include_dirs": ["csrc"],
                "cflags": cflags,
                "obj_deps": {"": headers},
            },
        )
    ],
    ext_modules=cythonize(
        extensions,
        include_path=["."],
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "embedsignature": True,
            "freethreading_compatible": False,
        },
    ),
)
