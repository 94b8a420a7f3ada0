"""Run many releases over one file, in few passes and on one budget, resumably.

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
    All answers together satisfy the loss of the job under its neighboring relation, by basic
    composition (Dwork, McSherry, Nissim and Smith, TCC 2006): the shares of the releases add up to
    this loss. With a ledger this holds for any number of runs, killed or not, one after the other
    or at the same time: only the first answer that was recorded for a spend is shown
    (``dpfast/app/job/runner.py`` has the argument). The ledger then holds the answers: protect the
    ledger as you protect the answers.

    Parameters
    ----------
    path : str or path-like
        The job, a TOML file; ``docs/guide/command-line.md`` describes it. Paths in it are relative
        to the directory of this file.
    report : str or path-like, optional
        A file for the answers as one HTML page, with charts and error bars; it ends in .html. The
        page has no script and loads nothing. ``[output]`` of the job may name such a file, too.
    progress : bool or callable, optional
        True for a bar on the standard error stream (needs Rich), or ``progress(done, total)`` about
        the rows of each pass. The number of passes may depend on the data: the progress is not
        private.

    Returns
    -------
    Results
        ``results[name]`` is the answer of a release, ``results.table()`` has all of them with error
        bars. ``results[name]`` of a release that failed because of its data raises the error, and
        `Results.check` raises the first such error; the other releases have their answers.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError, MissingExtraError
        If the job, one of its releases or one of its files is wrong; nothing has been spent.
    BudgetError
        If the ledger has too little left; nothing has been spent.
    LedgerError
        If the ledger cannot be used.

    Notes
    -----
    Each release runs in a thread; the threads wait for each other at the beginning of each pass. A
    release that is already paid for in the ledger is not paid for again, and a recorded answer is
    not computed again. Two releases are the same if they agree in name, statistic, columns,
    arguments, neighboring relation, mechanism and loss, and in the data's path and the version that
    ``[data]`` gives them; without a version, in path, size and time of change. So a job that
    changed in one place pays for the changed releases (for all releases, if shares changed), and a
    rewritten file counts as new data unless its version is the same. Without a ledger a budget in
    memory pays, which ends with the program.

    Cost: as many passes over the file as the release with the most passes needs, each over all
    columns that are used, for at most 64 releases at a time; and two small writes for each release,
    where writes at about the same time share a transaction.

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
        As JSON types. Each of ``releases`` has its mechanism, share, loss, expected error and
        passes. The other entries are the total loss, the number of rows if it is public or guessed
        in the job, the number of passes (None if blocks decide it), and the budget that remains now
        and after a run. 95% of all answers are within the half-width of the error bar around the
        answer without noise; for a quantile it is a number of ranks. The error bar is None if it
        does not follow from public numbers, and its ``note`` says why.

    Raises
    ------
    ArgumentError, ArgumentTypeError, SourceError, MissingExtraError, LedgerError
        As `run`.

    Notes
    -----
    Negligible cost. Nothing is spent, and no ledger is created.

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
        Everything in it may be published.

    Raises
    ------
    ArgumentTypeError
        If `results` is anything else.

    Notes
    -----
    Negligible cost.

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
