"""Run many releases over one file, in few passes and on one budget; a job can be resumed.

    run(path)        do what `dpfast run job.toml` does
    explain(path)    return cost and expected errors of a job; no row is read, nothing is spent
    report(results)  return the answers in the types of JSON

A TOML file lists the releases (`job_file`). `plan` gives each release its share of the loss and
prepares its mechanism without paying. `runner` runs the releases side by side over shared passes.
It pays for each release once, and answers it once. `output` writes all answers to a file, or none.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from ...extend import checks
from . import output, runner
from .output import Facts, Results
from .plan import plan

__all__ = ["Results", "explain", "report", "run"]


def run(
    path: str | os.PathLike[str],
    *,
    report: str | os.PathLike[str] | None = None,
    progress: bool | Callable[[int, int | None], object] | None = None,
) -> Results:
    """Run the releases of a job file, each paid for once and answered once.

    Privacy
    -------
    The shares of the releases add up to the loss of the job. So all answers together satisfy this
    loss under the neighboring relation of the job, by basic composition (Dwork, McSherry, Nissim
    and Smith, TCC 2006). With a ledger, this also holds if the job is run again, is killed, or runs
    twice at the same time, because only the first answer that was recorded for a spend is shown
    (``dpfast/app/job/runner.py`` has the argument). The ledger then holds the answers, so protect
    the ledger as you protect the answers.

    Parameters
    ----------
    path : str or path-like
        The job: a TOML file, as ``docs/guide/command-line.md`` describes it. Paths in the file are
        relative to its directory.
    report : str or path-like, optional
        A file that ends in .html, to which the answers are written as a page with charts and error
        bars. The page has no script and loads nothing. ``[output]`` of the job may also name it.
    progress : bool or callable, optional
        True shows a bar on the standard error stream, which needs Rich. A function is called as
        ``progress(done, total)``, with numbers of rows of the current pass. NOT PRIVATE: the number
        of passes may depend on the data.

    Returns
    -------
    Results
        ``results[name]`` is the answer of a release. ``results.table()`` has all answers with their
        error bars. If a release failed because of its data, ``results[name]`` raises the error, and
        the other releases have their answers. `Results.check` raises the first such error.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError, MissingExtraError
        If the job, one of its releases, or one of its files is wrong. Nothing has been spent.
    BudgetError
        If too little is left in the ledger. Nothing has been spent.
    LedgerError
        If the ledger cannot be used.

    Notes
    -----
    *A second run.* The ledger has an entry for each release that was paid for. The release is not
    paid for again. If the entry has the answer, it is not computed again. Two releases are the same
    if their name, statistic, columns, arguments, neighboring relation, mechanism, loss and data are
    the same. Data are the same if they have the same path and the same version in ``[data]``;
    without a version, if they have the same path, size and time of change. So if you change one
    release, the next run pays for this release, and for other releases whose shares changed. A file
    that was written again counts as new data, unless ``[data]`` gives it the same version.

    *Without a ledger* a budget in memory pays, which ends with the program.

    Cost: up to 64 releases run at the same time, each in a thread, and share their passes over
    the file. So there are as many passes as the release with the most passes needs. A pass reads
    all columns that are used. Each release takes two small writes to the ledger.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, dpfast as dp
    >>> folder = tempfile.TemporaryDirectory()
    >>> np.save(os.path.join(folder.name, "ages.npy"), np.repeat(np.arange(18, 91), 400))
    >>> path = os.path.join(folder.name, "job.toml")
    >>> with open(path, "w") as file:
    ...     _ = file.write('''
    ... [data]
    ... path = "ages.npy"
    ... [budget]
    ... epsilon = 1
    ... path = "study.db"
    ... [defaults]
    ... bounds = [0, 120]
    ... [[release]]
    ... name = "mean age"
    ... statistic = "mean"
    ... column = "0"
    ... [[release]]
    ... name = "quartiles"
    ... statistic = "quantiles"
    ... column = "0"
    ... qs = [0.25, 0.5, 0.75]
    ... weight = 3
    ... ''')
    >>> results = dp.job.run(path)
    >>> results.check()  # raises what a release has raised
    >>> 53 < results["mean age"] < 55
    True
    >>> list(results), results.table().select(["name", "at", "confidence"]).num_rows
    (['mean age', 'quartiles'], 4)
    >>> dp.job.run(path)["mean age"] == results["mean age"]  # recorded, and not paid again
    True
    >>> dp.Budget(path=os.path.join(folder.name, "study.db")).spent["epsilon"]
    Fraction(1, 1)
    >>> folder.cleanup()
    """
    job_plan = plan(path, report)
    for file in job_plan.job.outputs.values():
        output.check(file)
    budget = job_plan.budget(make=True)
    assert budget is not None
    results = Results(job_plan, *runner.run(job_plan, budget, progress))
    for file in job_plan.job.outputs.values():
        output.write(results, file)
    return results


def explain(path: str | os.PathLike[str]) -> Facts:
    """Return the cost of a job and the expected errors of its answers, without reading a row.

    Parameters
    ----------
    path : str or path-like
        The job, as in `run`.

    Returns
    -------
    dict
        A dict of JSON types. Each of ``releases`` has its mechanism, share, loss, expected error
        and number of passes. The other entries are the total loss, the number of rows (if it is
        public, or the job has a guess), the number of passes (None if it is unknown), and the
        budget that remains now and after a run.

        95 % of all answers are within the half-width of the error bar around the answer without
        noise. For a quantile the half-width is a number of ranks. If public numbers do not
        determine the error bar, it is None, and its ``note`` says why.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError, MissingExtraError, LedgerError
        As `run`.

    Notes
    -----
    Nothing is spent, and no ledger is created.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np, dpfast as dp
    >>> folder = tempfile.TemporaryDirectory()
    >>> np.save(os.path.join(folder.name, "ages.npy"), np.repeat(np.arange(18, 91), 400))
    >>> path = os.path.join(folder.name, "job.toml")
    >>> with open(path, "w") as file:
    ...     _ = file.write('''
    ... [data]
    ... path = "ages.npy"
    ... [budget]
    ... epsilon = 0.1
    ... neighbors = "replace"
    ... [[release]]
    ... statistic = "mean"
    ... column = "0"
    ... bounds = [0, 120]
    ... ''')
    >>> (release,) = dp.job.explain(path)["releases"]
    >>> round(release["error"]["half_width"], 3)
    0.123
    >>> folder.cleanup()
    """
    return output.explain(plan(path))


def report(results: Results) -> Facts:
    """Return the answers of a job in the types of JSON, as its output file has them.

    Parameters
    ----------
    results : Results
        The results that `run` returned.

    Returns
    -------
    dict
        All entries may be published.

    Raises
    ------
    ArgumentTypeError
        If `results` is anything else.

    Examples
    --------
    >>> import dpfast as dp
    >>> dp.job.report("j")
    Traceback (most recent call last):
    dpfast.errors.ArgumentTypeError: results must be the results of dpfast.job.run, got 'j' (str)
    """
    if not isinstance(results, Results):
        checks.fail_type("results", "the results of dpfast.job.run", results)
    return output.report(results)
