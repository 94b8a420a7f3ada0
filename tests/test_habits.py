"""The commands of the project are those that its workflows, hooks and pages name."""

import json
import re
import runpy
import shlex
import tomllib

import pytest

from .support.pages import ROOT

if not (ROOT / ".github").exists() or not (ROOT / "noxfile.py").exists():
    pytest.skip("the repository is not here", allow_module_level=True)
yaml = pytest.importorskip("yaml")

SESSIONS = set(re.findall(r"@nox\.session\ndef (\w+)", (ROOT / "noxfile.py").read_text("utf-8")))
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROGRAM = re.compile(r"(?<![\w/])(?:tools|docs|benchmarks|\.ci)/[\w/]+(?:\.py)?\b")
changelog = runpy.run_path(str(ROOT / "tools" / "changelog.py"))
subjects = runpy.run_path(str(ROOT / "tools" / "subjects.py"))


def unknown(command):
    """What a command names that is not here: sessions of nox, programs, extras."""
    words = shlex.split(command, comments=True)
    if "-s" in words and any(word.endswith("nox") for word in words):
        named = words[words.index("-s") + 1 :]
        yield from set(named[: named.index("--") if "--" in named else None]) - SESSIONS
    yield from (path for path in PROGRAM.findall(command) if not (ROOT / path).exists())
    for found in re.findall(r"-e \"?\.\[([\w,]+)\]", command):
        yield from set(found.split(",")) - set(EXTRAS["optional-dependencies"])


def commands():
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text("utf-8"))["jobs"].values():
            for step in job["steps"]:
                for line in step.get("run", "").splitlines():
                    yield path.name, line
    for repository in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))[
        "repos"
    ]:
        for hook in repository["hooks"]:
            yield "pre-commit", hook.get("entry", "")
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text("utf-8"))
    yield "devcontainer", container["postCreateCommand"]
    for name in ("run", "nightly"):
        for line in re.findall(r"^.*nox -s.*$", (ROOT / ".ci" / name).read_text("utf-8"), re.M):
            yield name, line


def test_every_command_is_there():
    named = list(commands())
    assert {"test.yml", "nightly.yml", "release.yml", "pre-commit", "run", "nightly"} <= {
        w for w, _ in named
    }
    assert {where: list(unknown(line)) for where, line in named if list(unknown(line))} == {}


@pytest.mark.parametrize(
    "command", ["nox -s lints", "python tools/stub.py --check", 'pip install -e ".[tests]"']
)
def test_a_command_that_is_not_there_is_found(command):
    assert len(list(unknown(command))) == 1


def test_every_part_of_a_workflow_is_of_one_version():
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text("utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
        for used in (step["uses"] for step in steps if "uses" in step):
            assert re.search(r"@(v\d|release/v\d)", used), used


def test_pull_requests_are_tested_on_every_python_that_the_package_names():
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))
    matrix = workflow["jobs"]["tests"]["strategy"]["matrix"]
    named = " ".join(EXTRAS["classifiers"])
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)", named)
    assert len(matrix["os"]) == len(re.findall(r"Operating System", named))


def test_forms_of_issues_and_updates_are_yaml():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) > 2
    for path in forms:
        form = yaml.safe_load(path.read_text("utf-8"))
        assert path.stem == "config" or {"name", "description", "body"} <= form.keys()
    assert yaml.safe_load((ROOT / ".github" / "dependabot.yml").read_text("utf-8"))["updates"]


def test_a_good_message_of_a_commit_has_no_fault():
    assert not list(
        subjects["faults"]("Ledger: refuse a file of another version\n\nIt was read.\n")
    )


@pytest.mark.parametrize("message, said", [
    ("Refuse " + "a " * 40 + "file\n\nWhy.", "at most 72"),
    ("refuse a file\n\nWhy.", "capital"),
    ("Refuse a file.\n\nWhy.", "full stop"),
    ("Ledger: refused a file\n\nWhy.", "imperative"),
    ("The ledger refuses a file\n\nWhy.", "imperative"),
    ("Refuse a file\n# a comment of Git\n", "no body"),
    ("Refuse a file\nWhy.", "no blank line"),
    ("Refuse a file, and keep a folder\n\nWhy.", "two acts"),
    ("Look for faults of crowds\n\nWhy.", "'crowds' says nothing"),
])  # fmt: skip
def test_a_fault_of_a_message_is_found(message, said):
    (fault,) = subjects["faults"](message)
    assert said in fault


def test_the_changelog_has_its_form():
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert list(changelog["faults"](text)) == []
    assert len(changelog["sections"](text)) > 2


VERSIONS = """
## [Unreleased]
## [0.2.0] - 2026-11-26
### Added
- What is new.
### Fixed
## [0.1.0] - 2026-11-21
"""


@pytest.mark.parametrize("old, new, said", [
    ("[Unreleased]", "[0.3.0] - 2026-12-24", "first section"),
    (" - 2026-11-26", "", "is not '"),
    ("0.2.0", "0.0.9", "newest"),
    ("Fixed", "Mended", "Mended"),
    ("Fixed", "Added", "twice"),
])  # fmt: skip
def test_a_fault_of_a_changelog_is_found(old, new, said):
    assert list(changelog["faults"](VERSIONS)) == []
    (fault,) = changelog["faults"](VERSIONS.replace(old, new, 1))
    assert said in fault


def test_a_tag_is_refused_that_the_changelog_does_not_tell():
    version = EXTRAS["version"]
    told, tag = VERSIONS.replace("0.2.0", version), f"v{version}"
    assert changelog["notes"](told, tag) == "### Added\n- What is new.\n### Fixed"
    for text, name, said in (
        (told, "v99.0.0", "version in pyproject.toml"),
        (told.replace(version, "99.0.0"), tag, "has no section"),
        (told.replace("[Unreleased]\n", "[Unreleased]\n- Something.\n"), tag, "under"),
    ):
        with pytest.raises(ValueError, match=said):
            changelog["notes"](text, name)
