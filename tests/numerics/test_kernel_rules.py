"""What a kernel may not do, since it would give other bytes compiled than plain, or allocate."""

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import astray
from astray.numerics import elementary, random, se2
from astray.numerics.kernels import Kernel

PACKAGE = Path(astray.__file__).parent
MOST_ARGUMENTS = 8  # more than these travel as a named tuple
EXACT = "floor ceil trunc fabs sqrt frexp ldexp copysign isnan isinf isfinite inf nan pi"
ALLOWED = {
    "math": EXACT.split(),
    "numpy": ("uint64", "int64", "int32", "float64", "float32", "floor", "nan", "inf", "pi"),
    "builtins": ("abs", "min", "max", "range", "len", "int", "float", "bool"),
}
REFUSED = {
    "**": (ast.Pow,),
    "@": (ast.MatMult,),
    "a string": (ast.JoinedStr,),
    "a dict": (ast.Dict,),
    "a list": (ast.List, ast.Set),
    "a comprehension": (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
    "try": (ast.Try, ast.With, ast.Raise, ast.Assert),
    "a function": (ast.Lambda, ast.FunctionDef, ast.Yield),
    "import": (ast.Import, ast.ImportFrom, ast.Global),
}


def imported(module: ast.Module) -> dict[str, str]:
    """What each imported name of a module stands for: np → numpy, sqrt → math.sqrt."""
    names = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for a in node.names:
                whole = a.name if a.asname else a.name.split(".")[0]
                names[a.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom):
            names.update({a.asname or a.name: f"{node.module}.{a.name}" for a in node.names})
    return names


def kernels(module: ast.Module) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
            if any(d.split("(")[0].split(".")[-1].endswith("kernel") for d in decorators):
                yield node


def faults(source: str) -> list[str]:
    """Every breach of the rules by the kernels of a module."""
    module = ast.parse(source)
    names = imported(module)
    functions = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    found = []
    for function in kernels(module):
        a = function.args
        arguments = [*a.posonlyargs, *a.args, *a.kwonlyargs]
        if len(arguments) > MOST_ARGUMENTS or a.vararg or a.kwarg:
            found.append(f"{function.name}: more than {MOST_ARGUMENTS} arguments")
        body = function.body[1:] if ast.get_docstring(function) is not None else function.body
        nodes = [node for statement in body for node in ast.walk(statement)]
        own = functions | {argument.arg for argument in arguments}
        own |= {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        breaches = filter(None, (breach(node, names, own) for node in nodes))
        found += [f"{function.name}: {what}" for what in breaches]
    return found


def breach(node: ast.AST, names: dict[str, str], own: set[str]) -> str:
    """What is wrong with one node of a kernel; empty if nothing is."""
    for what, types in REFUSED.items():
        if isinstance(node, types):
            return what
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
        return "a string"
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "view":  # the bits of a number, not a copy of an array
            return ""
        return "" if ast.unparse(node.func.value) in names else f"the method {node.func.attr}()"
    if isinstance(node, ast.Name) and hasattr(builtins, node.id):
        known = node.id in ALLOWED["builtins"] or node.id in own or node.id in names
        return "" if known else f"{node.id}()"
    if isinstance(node, (ast.Name, ast.Attribute)) and getattr(node, "attr", "") != "view":
        first, _, rest = ast.unparse(node).partition(".")
        home, _, what = ".".join(filter(None, (names.get(first, ""), rest))).partition(".")
        if first in names and what and home != "astray" and what not in ALLOWED.get(home, ()):
            return f"{home}.{what}"
    return ""


WITH_KERNELS = sorted(
    str(file.relative_to(PACKAGE))
    for file in PACKAGE.rglob("*.py")
    if any(kernels(ast.parse(file.read_text(encoding="utf-8"))))
)


@pytest.mark.parametrize("file", WITH_KERNELS)
def test_kernels_keep_the_rules(file: str) -> None:
    assert faults((PACKAGE / file).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("module", [elementary, random, se2])
def test_no_kernel_escapes_the_rules(module: ModuleType) -> None:
    made = [k for k in vars(module).values() if isinstance(k, Kernel)]
    found = kernels(ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8")))
    here = [k.__name__ for k in made if k.__module__ == module.__name__]
    assert here == [function.name for function in found]
    assert here


def test_kernel_is_the_one_way_to_compile() -> None:
    for file in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                assert not re.search("jit|vectorize|cfunc", ast.unparse(decorator)), file


HEAD = """
import math, scipy.special
import numpy as np
from math import cosh
from astray.numerics import elementary as maths
from astray.numerics.kernels import kernel
from astray.numerics.elementary import sin
"""
GOOD = '''
@kernel
def good(out: "Table", rows: Array, x: float) -> tuple[float, float]:
    """Words are fine here."""
    for i in range(len(rows)):
        s, next = out[rows[i]], i + 1
        s.total += sin(x) * maths.exp(min(abs(x), math.sqrt(2.0))) + float(np.uint64(next))
        s.angle[0], s.angle[1] = math.pi, -math.inf
    return x, math.copysign(1.0, x)
'''


def test_a_good_kernel_has_no_fault() -> None:
    assert faults(HEAD + GOOD) == []


def test_only_kernels_are_held_to_the_rules() -> None:
    assert faults(HEAD + "def free(x):\n    return [math.sin(x) ** 2, 'text', np.zeros(3)]\n") == []


PYTHON = "pow sum round sorted list dict str print open"
MATH = "sin cos tan exp log atan atan2 pow hypot lgamma gamma erf log1p fsum asin fma"
NUMPY = "sin cos exp log sqrt arctan2 hypot power sum dot mean zeros empty ones array where"
BAD = {
    "x = x ** 2": "**",
    "x **= 2": "**",
    "x = a @ b": "@",
    "x @= a": "@",
    **{f"x = {f}(a)": f"{f}()" for f in PYTHON.split()},
    **{f"x = math.{f}(x)": f"math.{f}" for f in MATH.split()},
    **{f"x = np.{f}(a)": f"numpy.{f}" for f in NUMPY.split()},
    "x = np.linalg.norm(a)": "numpy.linalg",
    "x = np.random.normal()": "numpy.random",
    "x = cosh(x)": "math.cosh",
    "x = scipy.special.erf(x)": "scipy.special",
    "f = math.sin": "math.sin",
    "f = sum": "sum()",
    "x = a.sum()": "the method sum()",
    "x = a[0].copy()": "the method copy()",
    **{f"x = {text}": "a string" for text in ("'text'", "b'text'", "f'{x}'")},
    **{f"x = {text}": "a dict" for text in ("{}", "{1: x}")},
    **{f"x = {text}": "a list" for text in ("[]", "[x, x]", "{x, x}")},
    **{f"x = {text}": "a comprehension" for text in ("[i for i in a]", "max(i for i in a)")},
    **{f"x = {text}": "a comprehension" for text in ("{i: i for i in a}", "{i for i in a}")},
    "x = lambda: x": "a function",
    "try:\n        x = 1\n    except x:\n        x = 2": "try",
    "with a:\n        x = 1": "try",
    "raise x": "try",
    "assert x": "try",
    "import math": "import",
}


@pytest.mark.parametrize("line", BAD)
def test_each_breach_is_caught(line: str) -> None:
    found = faults(f"{HEAD}@kernel\ndef bad(x, a, b):\n    {line}\n")
    assert any(fault.startswith(f"bad: {BAD[line]}") for fault in found), found


@pytest.mark.parametrize(
    "signature", ["a, b, c, d, e, f, g, h, i", "a, b, c, *, d, e, f, g, h, i", "*a", "**a"]
)
def test_more_than_eight_arguments_are_caught(signature: str) -> None:
    assert faults(f"@kernel\ndef bad({signature}):\n    pass\n") == ["bad: more than 8 arguments"]
    assert faults("@kernel\ndef good(a, b, c, d, e, f, g, h):\n    pass\n") == []
