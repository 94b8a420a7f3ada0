"""The pages on groups name what there is, and their links lead somewhere."""

import inspect
import re

import dpfast as dp
from dpfast.groups.api import GroupBy

from ..support.pages import GUIDE

TEXT = (GUIDE / "groups.md").read_text(encoding="utf-8")


def test_every_statistic_is_named():
    methods = {name for name in dir(GroupBy) if not name.startswith("_")}
    methods -= {"agg", "keys"}
    assert methods - {"top_k"} == set(dp.stat.__all__)
    (listed,) = re.findall(r"^There are (.*?)\. They take", TEXT, re.M | re.S)
    assert methods == set(re.findall(r"`(\w+)`", listed))
    for name in inspect.signature(dp.group_by).parameters:
        assert name in TEXT
