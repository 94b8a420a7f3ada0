"""Libraries that only some calls need."""

import math
import sys

import pytest

from dpfast._core.extras import extra
from dpfast.errors import MissingExtraError


def test_what_is_there_is_returned():
    assert extra("math", "a test") is math


@pytest.mark.parametrize("name", ["dp_accounting", "dp_accounting.pld"])
def test_what_is_missing_can_be_installed_as_the_message_says(name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError) as caught:
        extra(name, "a loss distribution")
    line = "a loss distribution needs dp-accounting: pip install dp-accounting"
    assert str(caught.value) == line
