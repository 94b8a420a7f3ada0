"""What of a call is public, as a key of caches."""


cdef bint have_types(tuple values, frozenset plain, list types):
    """Add the types of values, and tell whether all of them are plain, or tuples of plain ones."""
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
    """The arguments but the first and the `others`: those by place, names, values, and all types.

    None where one of them is neither of a `plain` type nor a tuple of such.
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
