"""Read from a `.pyx` what its stub declares; `tools/stubs.py` writes the stubs.

An argument has the type that its declaration in C has in Python, or None where that admits it.
Where the declaration says too little, an annotation behind it says the type, and one behind the
arguments always says what a function returns.
"""

from pathlib import Path

from Cython.Compiler import ExprNodes, Nodes
from Cython.Compiler.TreeFragment import parse_from_strings

#: Numbers of C as elements of arrays, and alone.
INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
ELEMENTS = {f"{name}_t": name for name in INTEGERS} | {"double": "float64", "float": "float32"}
SCALARS = dict.fromkeys([*ELEMENTS, "int", "unsigned", "size_t", "Py_ssize_t"], "int")
SCALARS |= {"double": "float", "float": "float", "bint": "bool", "object": "Any"}


def declared(path: Path):
    """Return the lines and the classes of the stub of a `.pyx`."""
    module = statements(parse_from_strings(path.stem, path.read_text(encoding="utf-8")).body)
    classes = {node.class_name for node in module if isinstance(node, Nodes.CClassDefNode)}
    return [line for node in module for line in of_statement(node)], classes


def statements(block):
    """List the statements of a block, one after the other."""
    if not isinstance(block, Nodes.StatListNode):
        return [block]
    return [node for part in block.stats for node in statements(part)]


def of_statement(node):
    """Yield the lines that declare what a statement of a module makes for callers."""
    if isinstance(node, Nodes.SingleAssignmentNode):
        kind = "str" if isinstance(node.rhs, ExprNodes.UnicodeNode) else "int"
        for target in getattr(node.lhs, "args", [node.lhs]):
            if target.name.isupper():
                yield f"{target.name}: {kind}"
    elif isinstance(node, Nodes.CClassDefNode):
        yield f"class {node.class_name}({', '.join(base.name for base in node.bases.args)}):"
        lines = [line for member in statements(node.body) for line in of_member(member)]
        yield from dict.fromkeys(f"    {line}" for line in lines)  # one of two constructors
    else:
        yield from of_function(node)


def of_member(node):
    """Yield the lines that declare a member of a class: an attribute or a method."""
    if isinstance(node, Nodes.CVarDefNode) and node.visibility != "private":
        for attribute in node.declarators:
            yield f"{attribute.name}: {type_of(node.base_type)}"
    yield from of_function(node)


def of_function(node):
    """Yield the lines that declare a function, if it is one for callers."""
    if not isinstance(node, Nodes.DefNode):
        return
    name = node.name.replace("__cinit__", "__init__")
    if name.startswith("_") and name not in ("__init__", "__len__"):
        return
    answer = node.return_type_annotation
    if answer is None and name != "__init__" and returns_value(node.body):
        raise ValueError(f"{name} must say what it returns")
    for decorator in node.decorators or ():
        yield f"@{dotted(decorator.decorator)}"
    arguments = ", ".join(argument(taken) for taken in node.args)
    yield f"def {name}({arguments}) -> {answer.string.value if answer else None}: ..."


def dotted(node):
    """Return the name of a decorator."""
    return f"{node.obj.name}.{node.attribute}" if node.is_attribute else node.name


def returns_value(node):
    """Tell whether a value is returned somewhere below a node."""
    if isinstance(node, Nodes.ReturnStatNode):
        return node.value is not None
    below = [getattr(node, name) for name in node.child_attrs or ()]
    flat = [child for part in below for child in (part if isinstance(part, list) else [part])]
    return any(returns_value(child) for child in flat if isinstance(child, Nodes.Node))


def argument(node):
    """Return an argument with its type."""
    name, default = node.declarator.name, " = ..." if node.default else ""
    if name == "self":
        return name
    if node.annotation:
        return f"{name}: {node.annotation.string.value}{default}"
    kind = type_of(node.base_type)
    takes_none = kind not in SCALARS.values() and not node.not_none
    return f"{name}: {kind}{' | None' if takes_none else ''}{default}"


def type_of(declaration):
    """Return the type in Python of a declaration in C."""
    if isinstance(declaration, Nodes.MemoryViewSliceTypeNode):
        element = declaration.base_type_node
        element = getattr(element, "base_type", element)  # without `const`
        is_fused = element.name not in ELEMENTS
        return "NDArray[Any]" if is_fused else f"NDArray[np.{ELEMENTS[element.name]}]"
    if declaration.name is None:
        raise ValueError("an argument must have a type or an annotation")
    return (
        "NDArray[Any]"
        if declaration.name == "ndarray"
        else SCALARS.get(declaration.name, declaration.name)
    )
