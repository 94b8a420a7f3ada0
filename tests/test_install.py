"""A script beside a copy of the repository meets the package, not the folder of that copy."""

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LINE = 'package-dir = { "" = "." }\n'


@pytest.mark.full
@pytest.mark.parametrize("line, prints", [(LINE, "3.5"), ("", "has no attribute 'median'")])
def test_a_script_beside_a_folder_of_the_same_name(tmp_path, line, prints):
    """Of the project's own settings with a package of one line; without the line, planted."""
    pytest.importorskip("setuptools", minversion="77")
    copy, environment = tmp_path / "dpfast", tmp_path / "environment"
    (copy / "dpfast" / "data").mkdir(parents=True)
    for name in ("README.md", "LICENSE", "dpfast/data/ATTRIBUTION.md"):
        shutil.copy(ROOT / name, copy / name)
    settings = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert settings.count(LINE) == 1
    (copy / "pyproject.toml").write_text(settings.replace(LINE, line), encoding="utf-8")
    (copy / "dpfast" / "__init__.py").write_text("median = 3.5\n")
    build = "from setuptools import build_meta; build_meta.build_editable('.')"
    subprocess.run([sys.executable, "-c", build], cwd=copy, check=True, capture_output=True)
    venv.create(environment, with_pip=False)
    (packages,) = environment.rglob("site-packages")
    (wheel,) = copy.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(packages)
    (tmp_path / "script.py").write_text("import dpfast\nprint(dpfast.median)\n")
    python = environment / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = subprocess.run(
        [python, "script.py"], cwd=tmp_path, env={}, capture_output=True, text=True
    )
    assert prints in done.stdout + done.stderr


def test_the_first_page_installs_from_a_folder_of_another_name():
    text = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    paths = re.findall(r'pip install "?path/to/([\w-]+)', text)
    assert paths and set(paths) == {"dpfast-source"}
