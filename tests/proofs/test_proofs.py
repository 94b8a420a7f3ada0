"""The proofs compile, stand on the axioms of real numbers alone, and fail with planted faults."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dpfast

ROOT = Path(__file__).parents[2]
proofs = pytest.importorskip("proofs.__main__", reason="the proofs are not beside the tests")
needs_coq = pytest.mark.skipif(
    shutil.which("coqc") is None, reason=f"there is no Coq here: {proofs.INSTALL}"
)
MOST_LINES = 7_100
#: General theorems, of no file or function of dpfast.
GENERAL = {"outcomes_suffice"}
#: A file, a text that stands in it once, and another in its place with which the file, or one
#: that imports it, must not compile.
FAULTS = [
    (
        "distributions",
        "probability p e <= exp epsilon * probability q e + delta",
        "probability p e <= probability q e + delta",
    ),
    (
        "exponential_mechanism",
        "c <= epsilon / (2 * sensitivity) ->",
        "c <= epsilon / sensitivity ->",
    ),
    ("exponential_mechanism", "least + range.", "least + 2 * range."),
    (
        "interpolated_rank",
        "c <= epsilon / (2 * Rmax q (1 - q)) ->",
        "c <= epsilon / Rmax q (1 - q) ->",
    ),
    ("interpolated_rank", "(w s <= w (s + 1) <= w s + 1)%Z.", "(w s <= w (s + 1) <= w s + 2)%Z."),
    ("interpolated_rank", "let D := most (fraction p) in", "let D := fraction p in"),
    ("recursive_quantiles", "then 1 else 2 * most q", "then 1 else most q"),
    ("recursive_quantiles", "then (1 - snd o) * snd r", "then snd r"),
    (
        "smooth_replace",
        "(x j - x i) * exp (- beta * INR (j - i - 1)).",
        "(x j - x i) * exp (- beta * INR (j - i)).",
    ),
    ("smooth_replace", "(m + t - k - 1)) (seq 0 (k + 2))).", "(m + t - k - 1)) (seq 0 (k + 1)))."),
    ("smooth_replace", "Prop := (hamming x y <= 1)%nat.", "Prop := (hamming x y <= 2)%nat."),
    ("order_statistics", "nth k (lo :: sort x) hi.", "nth k (lo :: sort x) lo."),
    ("envelope", "(exp (beta * INR (j' - j)) - 1).", "(exp (beta * INR (j' - j)) + 1)."),
    ("composition", "(1 - (1 - delta1) * (1 - delta2))", "(1 - (1 - delta1) * 1)"),
    ("composition", "(delta * (1 + exp epsilon)) mechanism", "(delta * 2) mechanism"),
    (
        "composition",
        "(delta * (exp (INR size * epsilon) - 1) / (exp epsilon - 1)) mechanism",
        "(delta * INR size) mechanism",
    ),
    (
        "composition",
        "within_limit loss (next a) (epsilon - fst (loss q))",
        "within_limit loss (next a) (epsilon - 0)",
    ),
    (
        "private_keys",
        "(Rmin (exp epsilon * pi epsilon delta m + delta)",
        "(Rmin (exp epsilon * pi epsilon delta m + 2 * delta)",
    ),
    ("private_keys", "(t = 2 * most ->", "(t = most ->"),
    (
        "randomized_response",
        "R := exp epsilon / (exp epsilon + INR k - 1).",
        "R := exp epsilon / (exp epsilon + INR k).",
    ),
    (
        "randomized_response",
        "private replaces epsilon 0 (responses epsilon k default).",
        "private replaces (epsilon / 2) 0 (responses epsilon k default).",
    ),
    ("specification", "then -1 else if after", "then 0 else if after"),
    ("specification", "if point <? weight", "if point <=? weight"),
    ("specification", "j - i - 1) weights", "j - i) weights"),
    ("specification", "(0 <? L' + U')", "(0 <=? L' + U')"),
    (
        "smooth_noise",
        "(sqrt (2 * exp beta * (cosh epsilon - cosh beta)))",
        "(sqrt (3 * exp beta * (cosh epsilon - cosh beta)))",
    ),
    ("smooth_noise", "Rabs (f x - f y) <= S x /\\", "Rabs (f x - f y) <= 2 * S x /\\"),
    (
        "continuous_noise",
        "arccosh (delta * exp ((epsilon + beta) / m)",
        "arccosh (2 * delta * exp ((epsilon + beta) / m)",
    ),
    ("continuous_noise", "= 1 - 2 * q ^ (S n) / (1 + q).", "= 1 - 2 * q ^ n / (1 + q)."),
    (
        "polyplace_noise",
        "exp ((log_m + ln q - log_k) / (q + 1))",
        "exp ((log_m + ln q + log_k) / (q + 1))",
    ),
    ("integer_sums", "else Z.max hi 0 - Z.min lo 0", "else hi - lo"),
    ("integer_sums", "Feature (2 * s, 0, -2) 0 (s * s) 0", "Feature (2 * s, 0, -1) 0 (s * s) 0"),
    (
        "word_sums",
        "cells_of_a_tile : fits (2 ^ 41) (2 ^ 14) 63",
        "cells_of_a_tile : fits (2 ^ 41) (2 ^ 23) 63",
    ),
    ("cells", "(0x4338000000000000 + first)", "(0x4330000000000000 + first)"),
    ("contribution_bounds", "(Z.max (2 * (most * most)) (width * width))", "(2 * (most * most))"),
    (
        "smooth_add_remove",
        "order_statistic lo hi x ((length x + k) / 2 + 1) -",
        "order_statistic lo hi x ((length x + k) / 2) -",
    ),
    ("smooth_add_remove", "  (j - i - 1 + fold_right Nat.min", "  (j - i + fold_right Nat.min"),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A copy of all proofs, compiled; what has been compiled in the repository is taken over."""
    folder = tmp_path_factory.mktemp("proofs") / "proofs"
    shutil.copytree(proofs.HERE, folder)
    proofs.compile_all(folder)
    return folder


@needs_coq
@pytest.mark.full
def test_each_theorem_stands_on_the_axioms_of_real_numbers_alone(compiled):
    names = [f"{theorem.file}.{theorem.name}" for theorem in proofs.theorems(compiled)]
    assert names and proofs.assumptions(names, compiled) <= proofs.AXIOMS


@needs_coq
def test_an_axiom_of_a_theorem_is_caught(tmp_path):
    (tmp_path / "_CoqProject").write_text("-Q . Dpfast\nbelief.v\n")
    (tmp_path / "belief.v").write_text("Axiom b : 0 = 1.\nTheorem t : 0 = 1.\nProof b.\n")
    proofs.compile_all(tmp_path)
    assert proofs.assumptions(["belief.t"], tmp_path) - proofs.AXIOMS == {"belief.b"}


@needs_coq
@pytest.mark.full
@pytest.mark.parametrize("file, old, new", FAULTS)
def test_a_planted_fault_does_not_compile(compiled, tmp_path, file, old, new):
    folder = tmp_path / "proofs"
    shutil.copytree(compiled, folder)
    text = (folder / f"{file}.v").read_text(encoding="utf-8")
    assert text.count(old) == 1
    (folder / f"{file}.v").write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(subprocess.CalledProcessError):
        proofs.compile_all(folder)


@needs_coq
@pytest.mark.full
def test_a_harmless_change_compiles(compiled, tmp_path):
    """The control of the planted faults: it is they that fail, and not that a file was changed."""
    folder = tmp_path / "proofs"
    shutil.copytree(compiled, folder)
    last = folder / f"{proofs.files()[-1]}.v"
    last.write_text(last.read_text(encoding="utf-8") + "\n(* The end. *)\n", encoding="utf-8")
    proofs.compile_all(folder)


def test_every_file_is_listed_after_those_that_it_imports():
    files = proofs.files()
    assert {*files} == {path.stem for path in proofs.HERE.glob("*.v")}
    for at, file in enumerate(files):
        text = (proofs.HERE / f"{file}.v").read_text(encoding="utf-8")
        for names in re.findall(r"^From Dpfast Require(?: Import)? ([\w\s]+)\.", text, re.M):
            assert {*names.split()} <= {*files[:at]}, file


def without_proof(text):
    """The words by which Coq believes something without a proof."""
    text = re.sub(r"\(\*.*?\*\)", "", text, flags=re.S)
    words = "Admitted|admit|Axioms?|Parameters?|Conjecture|Unset Guard Checking"
    return re.findall(rf"\b(?:{words})\b", text)


@pytest.mark.parametrize("file", proofs.files())
def test_nothing_is_believed_without_a_proof(file):
    assert without_proof((proofs.HERE / f"{file}.v").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text", ["Proof. Admitted.", "Proof. admit.", "Axiom a : 0 = 1."])
def test_what_is_believed_without_a_proof_is_caught(text):
    assert without_proof(f"(* No Axiom. *)\n{text}") != []


def test_proofs_are_short():
    texts = [path.read_text(encoding="utf-8") for path in proofs.HERE.glob("*.v")]
    assert sum(text.count("\n") for text in texts) <= MOST_LINES


def test_every_theorem_is_found_and_says_of_what_it_is():
    texts = [(proofs.HERE / f"{file}.v").read_text(encoding="utf-8") for file in proofs.files()]
    theorems = list(proofs.theorems())
    assert len(theorems) == sum(len(re.findall(r"^Theorem ", text, re.M)) for text in texts)
    for theorem in theorems:
        if theorem.name not in GENERAL:
            of = re.match(r"Of (?:dpfast\.(\w+)|([\w/]+\.\w+))\b", theorem.comment)
            assert of and (hasattr(dpfast, of[1]) if of[1] else (ROOT / of[2]).is_file()), theorem
