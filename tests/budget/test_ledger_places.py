"""A ledger is one file at one place: a copy, or another name, is refused until it is moved."""

import contextlib
import functools
import os
import shutil
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

import dpfast as dp
from dpfast.budget.ledger import chain, file
from dpfast.errors import LedgerError
from dpfast.privacy import Pure

from ..support.crashes import MEMORY, crash
from ..support.ledger_damage import as_process

ELSEWHERE = "was made in another directory, or is a copy"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "study.db"
    spend(dp.Budget(epsilon=1, path=path))
    return path


def spend(budget):
    budget.spend(Pure(0.25), neighbors="add-remove")


def copied(path):
    other = path.with_name("copy.db")
    shutil.copy(path, other)
    return other


def moved(path):
    path.with_name("new").mkdir()
    return path.rename(path.with_name("new") / "study.db")


def directory_copied(path):
    return Path(shutil.copytree(path.parent, f"{path.parent} 2")) / path.name


@pytest.mark.parametrize("place", [copied, moved, directory_copied])
def test_a_ledger_at_another_place_is_refused_until_it_is_moved(path, place):
    other = place(path)
    before = other.read_bytes()
    for words in ({}, {"epsilon": 1}):
        with pytest.raises(LedgerError, match=f"{ELSEWHERE}.*run dpfast budget move {other}"):
            dp.Budget(path=other, **words)
    assert other.read_bytes() == before
    for _ in range(2):  # of which the second changes nothing
        file.move(str(other))
        budget = dp.Budget(path=other)
        with contextlib.closing(budget._file._connect()) as db:
            assert len(chain.identities(db, budget._file.header.seal)) == 2
    spend(budget)
    assert budget.spent["epsilon"] == Fraction(1, 2)


def test_a_copy_that_is_opened_all_the_same_is_caught(path, monkeypatch):
    monkeypatch.setattr(chain, "identities", lambda db, first: [])
    with pytest.raises(pytest.fail.Exception):
        test_a_ledger_at_another_place_is_refused_until_it_is_moved(path, copied)


def test_a_budget_that_is_open_notices_too(path):
    """A copy takes the place of the file: also one that lacks nothing is another file."""
    budget = dp.Budget(path=path)
    os.replace(copied(path), path)
    with pytest.raises(LedgerError, match=ELSEWHERE):
        spend(budget)
    file.move(str(path))
    spend(budget)


def test_another_name_in_the_same_directory_and_links_are_no_other_place(path):
    other = path.rename(path.with_name("renamed.db"))
    spend(dp.Budget(path=other))
    if sys.platform != "win32":
        path.parent.with_name("link").symlink_to(path.parent)
        spend(dp.Budget(path=path.parent.with_name("link") / "renamed.db"))
    assert len(dp.Budget(path=other).history) > 1


def test_a_move_is_checked_and_sealed(path):
    other = moved(path)
    with pytest.raises(LedgerError, match="does not exist"):
        file.move(str(path))
    file.move(str(other))
    back = other.rename(path)
    with pytest.raises(LedgerError, match=ELSEWHERE):
        dp.Budget(path=back)
    other.write_bytes(back.read_bytes().replace(b"median", b"nadiem").replace(b"0/1", b"1/1"))
    with pytest.raises(LedgerError, match="is damaged"):
        file.move(str(other))


def test_an_early_copy_that_is_moved_lacks_what_was_seen(path):
    """As for one that is put back: who has seen more refuses it, and a new process cannot know."""
    early = copied(path)
    spend(dp.Budget(path=path))
    os.replace(early, path)
    with pytest.raises(LedgerError, match="was put back"):
        file.move(str(path))
    with as_process({}):
        file.move(str(path))
        assert dp.Budget(path=path).spent["epsilon"] == Fraction(1, 4)


class Other:
    def __init__(self, found, **numbers):
        self.found, self.numbers = found, numbers

    def __getattr__(self, name):
        return self.numbers[name] if name in self.numbers else getattr(self.found, name)


def test_what_a_file_system_calls_itself_belongs_to_the_place(path, monkeypatch):
    """Two disks of one kind have the same inodes."""
    name, number = ("statvfs", "f_fsid") if hasattr(os, "statvfs") else ("stat", "st_dev")
    real = getattr(os, name)
    monkeypatch.setattr(os, name, lambda *given, **more: Other(real(*given, **more), **{number: 7}))
    with pytest.raises(LedgerError, match=ELSEWHERE):
        dp.Budget(path=path)


@pytest.mark.parametrize("of", ["mounts", "devices"])
def test_a_file_of_another_mount_than_its_directory_is_refused(path, monkeypatch, of):
    if of == "mounts":
        monkeypatch.setattr(file, "_mount", lambda name: name)
    else:  # without /proc, as on a Mac
        monkeypatch.setattr(file, "_mount", lambda name: {}["mnt_id"])
        spend(dp.Budget(path=path))
        real = os.stat

        def stat(name, **more):
            found = real(name, **more)
            return Other(found, st_dev=-1) if name == str(path) else found

        monkeypatch.setattr(os, "stat", stat)
    for use in (lambda: dp.Budget(path=path), lambda: file.move(str(path))):
        with pytest.raises(LedgerError, match=r"is a mount point.*mount its directory instead"):
            use()


@functools.cache
def unshared():
    """The words before a program that may mount, or none where this machine allows no mounts."""
    test = "cd $(mktemp -d) && mkdir a b && mount --bind a b"
    for words in (["unshare", "-m"], ["unshare", "-rm"]):
        if subprocess.run([*words, "sh", "-c", test], capture_output=True).returncode == 0:
            return words
    return None


def mounted(fault, kills):
    if not sys.platform.startswith("linux") or unshared() is None:
        pytest.skip("this system allows no bind mounts in a namespace of one's own (unshare -rm)")
    return crash("mount_crash", "random", fault, kills, 1, folder=MEMORY, under=unshared())


@pytest.mark.full
@pytest.mark.parametrize("kills", [20, pytest.param(2_000, marks=pytest.mark.slow)])
def test_a_ledger_under_two_names_of_bind_mounts_is_spent_once(kills):
    found = mounted("none", kills)
    assert found["violations"] == [], found["said"]
    assert found["kills"] >= kills and (found["refused"] or kills < 100)


@pytest.mark.full
def test_a_ledger_that_is_known_by_its_name_is_caught():
    assert mounted("named", 300)["violations"]
