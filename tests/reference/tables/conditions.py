"""Which rows pass conditions, as plain as can be: one row, one test, comparisons of Python."""


def passes(value, test, against):
    """Whether a value of a row passes one test; None and NaN pass none."""
    if value is None or value != value:
        return False
    if test == "above":
        return value > against
    if test == "at_least":
        return value >= against
    if test == "below":
        return value < against
    if test == "at_most":
        return value <= against
    if test == "equal":
        return value == against
    if test == "in":
        return any(value == one for one in against)
    return not any(value == one for one in against)


def kept(rows, where):
    """The numbers of the rows that pass all tests of all tables."""
    return [i for i, row in enumerate(rows)
        if all(passes(row[table["column"]], test, against) for table in where
        for test, against in table.items() if test != "column")]  # fmt: skip
