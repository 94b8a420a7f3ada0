"""`tools/words.py` counts what it should, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "tools" / "words.py"
SPEC = importlib.util.spec_from_file_location("words", PATH)
words = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(words)

TABLE = {"names": {"found": "column", "one": "row"}, "prose": {r"\blaws?\b": "distribution"},
    "code_prose": {"asked": "received"}}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("found = 1\nfound = 2", ["found"]),  # once in a scope
        ("found = 1\ndef f(found): pass", ["found", "found"]),
        ("def _one(): pass", ["one"]),
        ("class A:\n    def f(self):\n        self._found = 1", ["found"]),
        ("print(found, x.one, f(one=1))", []),  # uses, not bindings
        ("x = 1  # the law, and other laws", [r"\blaws?\b"] * 2),
        ('def f():\n    """Draw. A law."""', []),  # not the first sentence
        ('def f():\n    """A law."""', [r"\blaws?\b"]),
        ('raise ValueError(f"a law {x}")', [r"\blaws?\b"]),
        ('x = "a law"', []),
        ("x = 1  # asked", ["asked"]),
    ],
)
def test_python(text, expected):
    assert [word for _, word in words.count(text, ".py", TABLE)] == expected


def test_comments_of_c():
    text = "/* one law\n * of noise */\nint law; // a law\n"
    assert [line for line, _ in words.count(text, ".c", TABLE)] == [1, 3]


def test_pages():
    text = "A law asked, `law`, [x](law.md).\n```python\nfound = 1  # a law\n```\nlaws\n"
    assert [line for line, _ in words.count(text, ".md", TABLE)] == [1, 3, 5]
    assert words.count("```python\none = 1\n```\n", ".md", TABLE) == [(2, "one")]


def test_check(tmp_path, monkeypatch, capsys):
    table = tmp_path / "words.toml"
    text = PATH.with_suffix(".toml").read_text(encoding="utf-8").split("[limits]")[0]
    monkeypatch.setattr(words, "TABLE", table)
    monkeypatch.setattr(words, "ROOT", tmp_path)
    (tmp_path / "dpfast").mkdir()
    room = tmp_path / "dpfast" / "room.py"
    room.write_text("found = 1\n", encoding="utf-8")
    table.write_text(text + "[limits]\nroom = 2\n", encoding="utf-8")
    words.main("--keep")
    assert words.main("--check") == 0
    room.write_text("found = 1\ntold = 2\n", encoding="utf-8")
    assert words.main("--check") == 1  # the limit is 1 since
    words.main("--keep")  # and nothing raises it
    assert words.main("--check") == 1
    assert "room has 2 words" in capsys.readouterr().out
