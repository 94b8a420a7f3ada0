"""What a forked process is told."""

import os

import pytest

from dpfast.errors import DpfastError


def error_in_a_fork(call):
    """Call in a forked process, and return the words of its error, "" without one."""
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            call()
        except DpfastError as error:
            os.write(writer, str(error).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as words:
        told = words.read()
    os.waitpid(child, 0)
    return told
