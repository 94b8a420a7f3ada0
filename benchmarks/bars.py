"""How often error bars of 95 % hold, of every release: a line for each that gives one.

    python -m benchmarks.bars [--runs N] [name ...]

Each release of the tests' battery (`tests/support/bars.py`) is asked for each loss under each
relation, with N seeded answers of each; rows of people are chosen anew, so those get a tenth. Of
all numbers of an answer the one that is least often within its bar counts. "least" and "most" are
over losses and relations, and the last column is what half of a bar would hold. A bar in ranks or
scores is one for the worst data, and these are usual ones.
"""

import argparse

from tests.support.bars import BARS, askings, errors, measured, series


def line(name, runs):
    """Coverages of a release; None if it gives no bar."""
    case, rows = measured(BARS[name])
    some = series(case, runs)
    every = [own for asked in askings(case) for own in errors(case, asked, rows, some)]
    if not every:
        return None
    held = [own.held for own in every]
    half = min(own.times(0.5).held for own in every)
    answers = sum(len(own.off) for own in every)
    return [name, every[0].kind, answers, min(held), max(held), half]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--runs", type=int, default=1_500)
    parser.add_argument("names", nargs="*", help="part of a release's name")
    given = parser.parse_args()
    print(
        "| release | bar in | answers | least | most | half a bar |\n|---|---|---:|---:|---:|---:|"
    )
    for name in BARS:
        if not given.names or any(part in name for part in given.names):
            found = line(name, given.runs)
            if found is not None:
                *about, least, most, half = found
                print(
                    "|", *(f"{one} |" for one in about), f"{least:.1%} | {most:.1%} | {half:.1%} |"
                )


if __name__ == "__main__":
    main()
