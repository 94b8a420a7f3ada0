"""A statistic that dpfast does not have, with a line in the table: what sees it, as a program."""

import importlib.util
import json
import sys
import types
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOME = "dpfast.planted"


def plant():
    """Put a line into the table before anything reads it, and return the module of the line."""
    name = "dpfast.statistics.table"
    (package,) = importlib.util.find_spec("dpfast").submodule_search_locations
    path = Path(package) / "statistics" / "table.py"
    spec = importlib.util.spec_from_file_location(name, path)
    table = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(table)
    line = table.Entry("upper_decile", "planted", "UpperDecile", "the upper decile", "bounds nan")
    table.TABLE = (*table.TABLE, line)
    table.STATISTICS[line.word] = line
    home = sys.modules[HOME] = types.ModuleType(HOME)
    return home


def define(home):
    """Write the file of the line."""
    from dataclasses import dataclass
    from fractions import Fraction

    import dpfast as dp
    from dpfast.measurement.functions import function_of

    @dataclass(frozen=True, kw_only=True)
    class UpperDecile(dp.Median):
        @property
        def share_below(self):
            return Fraction(9, 10)

    @function_of(UpperDecile)
    def upper_decile(data, **arguments):
        """Release the upper decile."""

    vars(home).update(UpperDecile=UpperDecile, upper_decile=upper_decile)


def seen(folder):
    """What each door answers about a table whose upper decile is 50."""
    import dpfast as dp
    from dpfast.app.cli import main

    data = {"x": [30.0, 40.0, 50.0] * 1000, "k": [1] * 3000}
    file = folder / "t.csv"
    rows = zip(*data.values(), strict=True)
    file.write_text("\n".join(["x,k", *(f"{x},{k}" for x, k in rows)]), encoding="utf-8")
    given = {"bounds": (0, 100), "epsilon": 9}
    job = folder / "job.toml"
    job.write_text(
        '[data]\npath = "t.csv"\n[budget]\nepsilon = 9\n[[release]]\nstatistic = "upper_decile"\n'
        'column = "x"\nbounds = [0, 100]\n[[release]]\nstatistic = "upper_decile"\nby = "k"\n'
        'keys = [1]\ncolumn = "x"\nbounds = [0, 100]\n',
        encoding="utf-8",
    )
    of_job = dp.job.run(job)
    groups = dp.group_by(data, "k", keys=[1])
    asked = {"x": dp.stat.upper_decile("x", bounds=(0, 100))}
    print(json.dumps({
        "function": dp.upper_decile(data["x"], **given),
        "value": dp.UpperDecile(bounds=(0, 100)).measure(epsilon=9)(data["x"]),
        "mechanism": dp.mechanism(dp.upper_decile, **given)(data["x"]),
        "method": groups.upper_decile("x", **given)["upper_decile"][0],
        "agg": groups.agg(asked, epsilon=9)["x"][0],
        "job": of_job["upper_decile of x"],
        "job by group": of_job["upper_decile of x by k"]["upper_decile"][0],
    }))  # fmt: skip
    command = ["upper-decile", str(file), "--column", "x", "--bounds", "0", "100", "--epsilon", "9"]
    sys.exit(main.run([*command, "--json"]))


if __name__ == "__main__":
    home = plant()
    define(home)
    seen(Path(sys.argv[1]))
