"""Build `csrc/*/*.c` into one static library and each `dpfast/**/*.pyx` into a module.

Everything is found by glob, so a new kernel needs no edit here. There is no pure-Python
fallback: a failing compiler fails the installation. No flag lets a compiler change a
floating-point result, and none ties the binary to the machine that built it; the wider
instruction sets are chosen at run time (see `csrc/core/isa.h`).

Environment: `DPFAST_SANITIZE=1` builds with AddressSanitizer and UndefinedBehaviorSanitizer.
"""

import os
import shlex
import shutil
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from glob import glob
from itertools import chain
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_clib import build_clib
from setuptools.errors import CompileError

MSVC = sys.platform == "win32"
CORES = os.cpu_count() or 1
#: The module that holds what Cython generates for all the others, so that it is compiled once.
SHARED = "dpfast._kernels.shared"

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


def find_compiler() -> None:
    """Have the build use the configured C compiler or one that is there.

    Raises
    ------
    CompileError
        There is none.
    """
    configured = shlex.split(sysconfig.get_config_var("CC") or "cc")[0]
    asked = os.environ.get("CC")
    tried = [shlex.split(asked)[0]] if asked else ["cc", "gcc", "clang"]
    found = [name for name in (tried if asked else [configured, *tried]) if shutil.which(name)]
    if not found:
        raise CompileError(
            f"dpfast needs a C compiler: none was found (tried {', '.join(tried)}); install one, "
            "e.g. apt install gcc"
        )
    if not asked and found[0] != configured:
        os.environ["CC"] = found[0]


class Library(build_clib):
    """Compile the files of a library at the same time."""

    def run(self) -> None:
        if not MSVC:
            find_compiler()
        super().run()

    def build_libraries(self, libraries):
        one_by_one = self.compiler.compile

        def compile(sources, **options):
            with ThreadPoolExecutor(CORES) as pool:
                return [*chain(*pool.map(lambda c: one_by_one([c], **options), sources))]

        if not MSVC:
            self.compiler.compile = compile
        super().build_libraries(libraries)


def by_size(files: list[str]) -> list[str]:
    """Sort files, the largest first, so that no core waits long for the last of them."""
    return sorted(files, key=lambda file: (-os.path.getsize(file), file))


def main() -> None:
    sources = by_size(glob("csrc/*/*.c"))
    headers = sorted([*glob("csrc/*/*.h"), *glob("dpfast/include/*.h")])
    modules = [
        (".".join(Path(pyx).with_suffix("").parts), pyx)
        for pyx in by_size(glob("dpfast/**/*.pyx", recursive=True))
    ]
    extensions = [
        Extension(
            name,
            [source],
            include_dirs=["csrc", "dpfast/include", numpy.get_include()],
            depends=sources + headers,
            extra_compile_args=cflags,
            extra_link_args=ldflags,
            libraries=[] if MSVC else ["m"],
            define_macros=[("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION")],
        )
        for name, source in [(SHARED, SHARED.replace(".", "/") + ".c"), *modules]
    ]
    setup(
        cmdclass={"build_clib": Library},
        options={} if MSVC else {"build_ext": {"parallel": CORES}},
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
            nthreads=CORES,
            shared_utility_qualified_name=SHARED,
            compiler_directives={
                "language_level": 3,
                "annotation_typing": False,  # annotations are for stubs
                "boundscheck": False,
                "wraparound": False,
                "cdivision": True,
            },
        ),
    )


if __name__ == "__main__":  # not in the processes that `cythonize` starts
    main()
