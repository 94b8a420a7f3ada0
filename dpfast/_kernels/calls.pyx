"""The public arguments of a call, as a key of caches."""


cdef bint have_types(tuple values, frozenset plain, list types):
    """Append the types of values, and return whether all are plain or tuples of plain values."""
    for value in values:
        kind = type(value)
        types.append(kind)
        if kind is tuple:
            if not have_types(value, plain, types):
                return False
        elif kind not in plain:
            return False
    return True


def public_part(tuple args not None: tuple[Any, ...], dict kwargs not None: dict[str, Any],
                frozenset others not None: frozenset[str],
                frozenset plain not None: frozenset[type]) -> tuple[
                    tuple[Any, ...], tuple[str, ...], tuple[Any, ...], tuple[type, ...]] | None:
    """Return positional arguments but the first, and names and values but `others`; and all types.

    Return None if any of them is neither of a `plain` type nor a tuple of values of such types.
    """
    cdef list names = [], values = [], types = []
    for name, value in kwargs.items():
        if name not in others:
            names.append(name)
            values.append(value)
    cdef tuple placed = args[1:], named = tuple(values)
    if have_types(placed, plain, types) and have_types(named, plain, types):
        return placed, tuple(names), named, tuple(types)
    return None
