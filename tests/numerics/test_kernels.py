import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from astray.numerics import elementary, kernel_cache, kernels

RUN = """
import hashlib, json, sys, warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    import numpy as np
    import astray
    from astray.numerics import elementary as maths, random as noise, se2
    from astray.tables import ADDRESS, table

    digest = hashlib.sha256()
    for x in np.linspace(-20.0, 20.0, 101).tolist():
        digest.update(repr((maths.sincos(x), maths.exp(x), maths.atan2(x, 2.0))).encode())
        digest.update(repr(se2.arc((x, 1.0, 2.0), 0.5, x, 0.1 * x)).encode())
    out = np.zeros((50, 3))
    noise.normals_all(out, table(ADDRESS, 50), np.arange(50), noise.key(1, "a"))
    digest.update(out.tobytes())
    sim = astray.load("drift")
    sim.run(1.0)
    digest.update(sim.digest().encode())
seen_warnings = [str(w.message) for w in seen if issubclass(w.category, RuntimeWarning)]
numba = bool(sys.modules.get("numba"))
json.dump({"digest": digest.hexdigest(), "numba": numba, "warnings": seen_warnings}, sys.stdout)
"""


def python(code: str, **environment: str | Path) -> str:
    """What a new process prints that runs the code with kernels compiled, unless told otherwise."""
    variables = {k: v for k, v in os.environ.items() if k not in ("ASTRAY_JIT", "NUMBA_CACHE_DIR")}
    variables |= {name: str(value) for name, value in environment.items()}
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def compiled() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(python(RUN))
    return made


def test_importing_kernels_does_not_import_numba() -> None:
    modules = "astray.numerics.elementary, astray.numerics.random, astray.numerics.se2, astray.plugin, astray.robot.motion"
    assert python(f"import sys, {modules}; print('numba' in sys.modules)") == "False\n"


def test_kernels_are_compiled_without_a_warning(compiled: dict[str, Any]) -> None:
    assert compiled["numba"]
    assert compiled["warnings"] == []


def test_jit_off_runs_plain_python_with_the_same_bytes(compiled: dict[str, Any]) -> None:
    plain = json.loads(python(RUN, ASTRAY_JIT="0"))
    assert not plain["numba"]
    assert plain["digest"] == compiled["digest"]
    assert plain["warnings"] == []


def test_without_numba_all_runs_with_one_warning(compiled: dict[str, Any]) -> None:
    plain = json.loads(python("import sys; sys.modules['numba'] = None\n" + RUN))
    assert plain["digest"] == compiled["digest"]
    (warning,) = plain["warnings"]
    assert "numba cannot be imported" in warning


CALLEE = """
from typing import NamedTuple
from astray.numerics.kernels import kernel
GAIN = {gain}
@kernel
def scale(x):
    return {gain} * x
class Inner(NamedTuple):
    {first}: float
    {second}: float
class Outer(NamedTuple):
    inner: Inner
"""
CALLERS = {
    "by_name": ("from callee import scale", "scale(x) + 1.0"),
    "through_another": ("from by_name import f as between", "between(x)"),
    "by_module": ("import callee", "callee.scale(x) + 1.0"),
    "constant": ("from callee import GAIN", "GAIN * x + 1.0"),
}
TAKES_A_TUPLE = """
from __future__ import annotations
from astray.numerics.kernels import kernel
from callee import Inner, Outer
@kernel
def g(o: Outer) -> float:
    return o.inner.low + 0.0
def f(x):
    return g(Outer(Inner(low=3.0 * x, high=6.0 * x)))
"""


@pytest.fixture(scope="module")
def edited(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, float]]:
    """What each caller gives for 1.0 before and after its callee was edited, in new processes."""
    folder = tmp_path_factory.mktemp("foreign")
    for name, (line, value) in CALLERS.items():
        text = f"from astray.numerics.kernels import kernel\n{line}\n@kernel\ndef f(x):\n    return {value}\n"
        (folder / f"{name}.py").write_text(text)
    (folder / "fields.py").write_text(TAKES_A_TUPLE)
    names = [*CALLERS, "fields"]
    code = "import json, " + ", ".join(names)
    code += "\nprint(json.dumps({" + ", ".join(f"'{m}': {m}.f(1.0)" for m in names) + "}))"
    results = []
    for gain in (2.0, 2.0, 5.0):
        order = (
            {"first": "low", "second": "high"}
            if gain == 2.0
            else {"first": "high", "second": "low"}
        )
        (folder / "callee.py").write_text(CALLEE.format(gain=gain, **order))
        path = os.pathsep.join((str(folder), os.environ.get("PYTHONPATH", "")))
        # Bytecode is known by second and size, and this edit changes neither.
        own = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        results.append(json.loads(python(code, ASTRAY_CACHE_DIR=folder / "cache", **own)))
    return results


@pytest.mark.parametrize(
    "caller",
    [
        "by_name",
        "through_another",
        "by_module",
        "constant",
    ],
)
def test_an_edit_in_another_file_is_noticed(caller: str, edited: list[dict[str, float]]) -> None:
    assert [result[caller] for result in edited] == [3.0, 3.0, 6.0]


def test_fields_that_change_places_are_noticed(edited: list[dict[str, float]]) -> None:
    assert [result["fields"] for result in edited] == [3.0, 3.0, 3.0]


def test_a_kernel_is_kept_until_what_it_calls_is_edited() -> None:
    reached, _ = kernel_cache._dependencies(elementary.sincos.function)  # type: ignore[attr-defined]
    assert {function.__module__ for function, _ in reached} == {"astray.numerics.elementary"}


COMMENTED = """
@kernel
def f(x: float) -> float:
    \"\"\"Add {doc}.\"\"\"
    # {doc}
    return x + {value}
"""


def digest_of(doc: str, value: str) -> str:
    made: dict[str, Any] = {"kernel": kernels.kernel, "__name__": "foreign"}
    exec(COMMENTED.format(doc=doc, value=value), made)
    return kernel_cache.digest(made["f"].function, "")


def test_a_kernel_is_kept_when_only_comments_are_edited() -> None:
    assert digest_of("one", "1.0") == digest_of("a number", "1.0")
    assert digest_of("one", "1.0") != digest_of("one", "2.0")
    assert digest_of("one", "1.0") != digest_of("one", "1")


UNWRITABLE = """
import json, sys, warnings
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    from astray.numerics.kernels import kernel
    from astray.numerics.elementary import exp, sincos_reduced
    value = exp(0.0) + sincos_reduced(0.0, 0.0)[1]
    {more}
json.dump([value, [str(w.message) for w in seen]], sys.stdout)
"""


@pytest.mark.parametrize("more", ["", "kernel(lambda x: x)(1.0)"])
def test_unwritable_cache_is_one_warning(more: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    code = UNWRITABLE.format(more=more)
    value, seen = json.loads(python(code, ASTRAY_CACHE_DIR=tmp_path / "file" / "below"))
    assert value == 2.0
    assert ["set ASTRAY_CACHE_DIR" in warning for warning in seen] == [True]


@pytest.mark.parametrize("before", ["{}", "{NAME: '0'}"])
def test_settings_of_numba_are_put_back(before: str) -> None:
    code = f"""
import os, sys
NAME = "NUMBA_DISABLE_INTEL_SVML"
os.environ.pop(NAME, None)
os.environ.update({before})
class Watch:
    def find_spec(self, name, *_):
        if name == "numba":
            print("while importing:", os.environ[NAME])
sys.meta_path.insert(0, Watch())
from astray.numerics.elementary import exp
exp(0.0)
print(os.environ.get(NAME) == {before}.get(NAME), repr(sys.modules["numba"].config.CACHE_DIR))
"""
    assert python(code) == "while importing: 1\nTrue ''\n"


def test_a_kernel_typed_at_a_prompt_works() -> None:
    code = """
from astray.numerics.kernels import kernel
from astray.numerics.elementary import cos
@kernel
def twice(x):
    return 2.0 * x
exec("@kernel\\ndef f(x):\\n    return twice(x) + cos(0.0)")
print(f(3.0), len(f.dispatcher().signatures))
"""
    assert python(code) == "7.0 1\n"


def test_numbers_that_callers_write_down_are_no_reason_to_compile_again() -> None:
    code = """
from astray.numerics.kernels import kernel
@kernel
def times(x, n):
    return x * n
@kernel
def f(x, n):
    return times(x, 2) + times(x, 3) + times(x, n)
print(f(1.0, 4), [str(signature) for signature in times.inner().signatures])
"""
    assert python(code) == "9.0 ['(float64, int64)']\n"


def test_a_keyword_is_refused_not_dropped() -> None:
    with pytest.raises(TypeError):
        elementary.exp(0.0, base=2.0)


def test_caches_that_nobody_used_for_a_month_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASTRAY_CACHE_DIR", str(tmp_path))
    old, recent = tmp_path / "kernels" / "old", tmp_path / "kernels" / "recent"
    for folder, days in ((old, 31), (recent, 29)):
        folder.mkdir(parents=True)
        (folder / "kernel.nbc").write_text("")
        os.utime(folder, (time.time() - days * 86400,) * 2)
    assert kernel_cache.cache_folder("this is new") == tmp_path / "kernels" / "this is new"
    assert not old.exists()
    assert recent.exists()


def test_a_kernel_can_be_bound_to_the_types_of_its_arguments() -> None:
    call = kernels.compiled_for(elementary.wrap, 7.0)
    assert call(7.0) == elementary.wrap(7.0)
    assert call(1.0) == 1.0
    assert (call is elementary.wrap) is not kernels.jit()


FOREIGN = """
import numpy as np
from astray.numerics.kernels import kernel
from astray.numerics.elementary import sincos

@kernel
def total(angles):
    found = np.zeros(len(angles))
    for i in range(len(angles)):
        found[i] = sincos(angles[i])[0]
    return found.sum()
"""


def test_kernels_of_other_people_may_make_arrays_and_ours_count_no_references(
    tmp_path: Path,
) -> None:
    (tmp_path / "foreign.py").write_text(FOREIGN)
    output = python(
        "import numpy as np, foreign\n"
        "from astray.numerics import random as noise\n"
        "from astray.tables import ADDRESS, table\n"
        "some = np.zeros((2, 3)), table(ADDRESS, 2), np.arange(2), noise.key(1, 'a')\n"
        "noise.normals_all(*some)\n"
        "print(foreign.total(np.array([0.5, -0.5])))\n"
        "code = [k.dispatcher().inspect_asm() for k in (noise.draw_all, foreign.total)]\n"
        "print(*['NRT_decref' in ''.join(made.values()) for made in code])\n",
        PYTHONPATH=tmp_path,
        ASTRAY_CACHE_DIR=tmp_path,
    )
    assert output == "0.0\nFalse True\n"


def test_kernels_come_without_linear_algebra_until_somebody_multiplies_matrices() -> None:
    code = """
import sys
import numpy as np
from astray.numerics.kernels import kernel
from astray.numerics.elementary import exp
exp(0.0)
import numba.np.arraymath
print("scipy.linalg" in sys.modules, numba.np.arraymath._HAVE_BLAS)
@kernel
def twice(matrix):
    return np.dot(matrix, matrix)
print(twice(np.array([[0.0, 2.0], [1.0, 0.0]])).tolist(), "scipy.linalg" in sys.modules)
"""
    assert python(code) == "False True\n[[2.0, 0.0], [0.0, 2.0]] True\n"


COUNTED = """
import json, sys
import numba.core.codegen as codegen
made, keep = [], codegen.JITCodeLibrary._object_compiled_hook
def note(module, code):
    made.append(module.name)
    keep(module, code)
codegen.JITCodeLibrary._object_compiled_hook = staticmethod(note)
from astray.numerics import elementary
values = [getattr(elementary, name)(0.5) for name in {names}]
inner = {{k for name in {names} for k in getattr(elementary, name).callees()}}
used = [k._inner.stats for k in inner if k._inner is not None]
hits, misses = (sum(sum(s[n].values()) for s in used) for n in (1, 2))
names = {{k.__name__ for k in inner}} | set({names})
json.dump([values, sorted(names & set(made)), hits, misses], sys.stdout)
"""


def test_machine_code_is_made_for_kernels_that_python_calls_alone(tmp_path: Path) -> None:
    _, made, _, misses = json.loads(
        python(COUNTED.format(names=["sin"]), ASTRAY_CACHE_DIR=tmp_path)
    )
    assert made == ["sin"]
    assert misses > 0


def test_what_kernels_call_is_kept_for_kernels_of_later_starts(tmp_path: Path) -> None:
    python(COUNTED.format(names=["sin"]), ASTRAY_CACHE_DIR=tmp_path)
    values, made, hits, misses = json.loads(
        python(COUNTED.format(names=["sin", "cos"]), ASTRAY_CACHE_DIR=tmp_path)
    )
    assert values == [elementary.sin(0.5), elementary.cos(0.5)]
    assert made == ["cos"]
    assert hits > 0
    assert misses == 0


def test_with_another_numba_kernels_are_compiled_its_own_way(
    tmp_path: Path, compiled: dict[str, Any]
) -> None:
    other = "import numba.core.typed_passes\ndel numba.core.typed_passes.NativeLowering\n"
    without = (
        "\nfrom astray.numerics import kernel_compiler\nassert not kernel_compiler.pipelines()"
    )
    found = json.loads(python(other + RUN + without, ASTRAY_CACHE_DIR=tmp_path))
    assert found["digest"] == compiled["digest"]
    assert found["warnings"] == []


def test_numba_is_as_it_was_after_kernels_are_compiled_or_fail_to_be() -> None:
    code = """
import gc
import numba.core.event, numba.core.types.functions
from astray.numerics import elementary, kernel_compiler
def state():
    kind = numba.core.types.functions.BaseFunction
    return gc.isenabled(), kind.get_call_type, numba.core.event.install_timer
before = state()
elementary.exp(0.0)
print(state() == before)
try:
    with kernel_compiler._hurry():
        print(state() == before)
        raise TypeError
except TypeError:
    print(state() == before)
"""
    assert python(code) == "True\nFalse\nTrue\n"


@pytest.mark.skipif(not kernels.jit(), reason="the passes of numba are looked up in numba")
def test_passes_that_are_skipped_are_passes_of_numba() -> None:
    code = """
from numba.core import compiler
from astray.numerics.kernel_compiler import SKIPPED_PASSES
from types import SimpleNamespace
state = SimpleNamespace(func_ir=None, flags=compiler.Flags())
manager = compiler.DefaultPassBuilder.define_nopython_pipeline(state)
print(sorted(SKIPPED_PASSES - {kind.__name__ for kind, _ in manager.passes}))
"""
    assert python(code) == "[]\n"


CACHED = """
import json, sys, warnings
from astray.numerics.kernels import kernel
from astray.numerics.elementary import exp, sincos_reduced
with warnings.catch_warnings(record=True) as seen:
    warnings.simplefilter("always")
    value = exp(0.0) + sincos_reduced(0.0, 0.0)[1]
hits = sum(sum(f.dispatcher().stats.cache_hits.values()) for f in (exp, sincos_reduced))
json.dump([value, hits, [str(w.message) for w in seen]], sys.stdout)
"""


@pytest.mark.parametrize("damage", ["halve", "flip", "empty", "swap"])
@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_damaged_file_of_the_cache_is_thrown_away(
    damage: str, suffix: str, tmp_path: Path
) -> None:
    value, hits, _ = json.loads(python(CACHED, ASTRAY_CACHE_DIR=tmp_path))
    assert (value, hits) == (2.0, 0)
    files = sorted(tmp_path.rglob(f"*{suffix}"))
    contents = [file.read_bytes() for file in files]
    assert len(files) > 1
    for k, (file, data) in enumerate(zip(files, contents, strict=True)):
        if damage == "halve":
            data = data[: len(data) // 2]
        elif damage == "flip":
            changed = bytearray(data)
            for place in range(len(data) // 3, len(data), len(data) // 40 + 1):
                changed[place] ^= 0x10
            data = bytes(changed)
        elif damage == "empty":
            data = b""
        else:  # as a disk whose folders are mended after a crash may have it
            data = contents[k - 1]
        file.write_bytes(data)
    again = json.loads(python(CACHED, ASTRAY_CACHE_DIR=tmp_path))
    assert again[0] == 2.0
    assert again[1:] == [0, []]
    mended = json.loads(python(CACHED, ASTRAY_CACHE_DIR=tmp_path))
    assert mended[0] == 2.0
    assert mended[1] == 2


def test_a_full_disk_is_one_warning_and_no_cache(tmp_path: Path) -> None:
    full = """
import builtins, errno, io
def refuse(file, mode="r", *rest, **options):
    if "w" in mode and ".nb" in str(file):
        raise OSError(errno.ENOSPC, "No space left on device", str(file))
    return io.open(file, mode, *rest, **options)
builtins.open = refuse
"""
    value, hits, seen = json.loads(python(full + CACHED, ASTRAY_CACHE_DIR=tmp_path))
    assert (value, hits) == (2.0, 0)
    assert ["No space left on device" in warning for warning in seen] == [True]


def test_numbas_own_switch_runs_plain_python(compiled: dict[str, Any]) -> None:
    plain = json.loads(python(RUN, NUMBA_DISABLE_JIT="1"))
    assert plain["digest"] == compiled["digest"]
    assert plain["warnings"] == []
