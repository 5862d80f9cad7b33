"""The package: public names, stubs, documentation, and the examples in its README."""

import ast
import dataclasses
import doctest
import inspect
import json
import os
import pydoc
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import konane
import pytest
from konane import _errors, _konane, _results, sprouts

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "first_steps.ipynb"
LIBRARIES = Path(__file__).resolve().parents[2] / "docs" / "libraries.md"
README = Path(__file__).resolve().parents[1] / "README.md"
PACKAGE = Path(konane.__file__).parent


def stubs() -> dict[str, ast.AST]:
    """Public names in the stub, including members of classes."""
    names = {}
    for node in ast.parse((PACKAGE / "_konane.pyi").read_text()).body:
        if isinstance(node, ast.AnnAssign):
            names[node.target.id] = node
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = node
        elif isinstance(node, ast.ClassDef):
            names[node.name] = node
            for member in (each for each in node.body if isinstance(each, ast.FunctionDef)):
                names[f"{node.name}.{member.name}"] = member
    return names


def public(owner) -> dict[str, object]:
    special = ("__new__", "__hash__", "__eq__", "__ne__", "__reduce__", "_repr_svg_")
    found = {}
    for name, value in vars(owner).items():
        if not name.startswith("_") or name in special:
            found[name] = value
    return found


def test_the_stub_has_every_name_of_the_extension():
    expected = {"__version__"}
    for name, value in public(_konane).items():
        expected.add(name)
        if inspect.isclass(value):
            expected.update(f"{name}.{member}" for member in public(value))
    # Generated for the slots of the class, or inherited from object.
    found = set(stubs())
    ours = {f"{name}.{member}" for name in ("Position", "Record") for member in ("__ne__", "__eq__", "__reduce__")}
    ours |= {"Database.__enter__", "Database.__exit__"}
    assert found - expected <= ours
    assert expected - found == set()
    tree = ast.parse((PACKAGE / "_konane.pyi").read_text()).body
    assigned = [node for node in tree if isinstance(node, ast.Assign)]
    [listed] = [node.value for node in assigned if node.targets[0].id == "__all__"]
    listed = ast.literal_eval(listed)
    assert sorted(listed) == sorted(_konane.__all__)


def test_signatures_agree_with_the_stub():
    for name, node in stubs().items():
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        owner, _, member = name.rpartition(".")
        value = getattr(getattr(_konane, owner) if owner else _konane, member)
        if any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list):
            assert inspect.isdatadescriptor(value), name
            continue
        parameters = inspect.signature(value).parameters
        arguments = node.args
        positional = [argument.arg for argument in arguments.args if argument.arg != "cls"]
        positional += [arguments.vararg.arg] if arguments.vararg else []
        keywords = [argument.arg for argument in arguments.kwonlyargs]
        assert [each for each in parameters] == positional + keywords, name
        for keyword, default in zip(keywords, arguments.kw_defaults):
            parameter = parameters[keyword]
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, name
            # A parameter without a default is required.
            expected = parameter.empty if default is None else ast.literal_eval(default)
            assert parameter.default == expected, (name, keyword)


def test_everything_is_documented():
    for owner in (konane, sprouts, konane.Position, konane.Record, konane.Database):
        for name in getattr(owner, "__all__", public(owner)):
            if not name.startswith("_"):
                assert inspect.getdoc(getattr(owner, name)), name
    # Functions and classes in the stub have the same docstring as in the extension, if it has one.
    attributes = ("ClusterDelivery.", "ClusterStatus.")
    for name, node in stubs().items():
        if isinstance(node, ast.AnnAssign):
            continue
        documented = ast.get_docstring(node)
        assert documented, name
        owner, _, member = name.rpartition(".")
        if not member.startswith("_") and not name.startswith(attributes):
            value = getattr(getattr(_konane, owner) if owner else _konane, member)
            assert documented == inspect.getdoc(value), name
    # The docstring of a result lists every field in order.
    for name in _results.__all__:
        result = getattr(_results, name)
        assert getattr(konane, name) is result
        documented = re.findall(r"^\* ``(\w+)``: \S", inspect.getdoc(result), re.MULTILINE)
        assert documented == [field.name for field in dataclasses.fields(result)], name


def test_help_has_every_function_and_no_generated_methods():
    text = pydoc.plain(pydoc.render_doc(konane))
    assert all(f"\n    {name}(" in text for name in ("analyse", "line", "solve"))
    assert "__dataclass_fields__" not in text and len(text.splitlines()) < 520
    for name in (*_results.__all__, *_errors.__all__):
        assert getattr(konane, name).__module__ == "konane"


def test_the_package_is_typed_and_has_a_version():
    assert (PACKAGE / "py.typed").exists()
    assert konane.__version__ == metadata.version("konane")
    assert set(konane.__all__) <= set(dir(konane))


def test_errors_derive_from_the_package_and_builtin_exceptions():
    for error, kind in [
        (konane.InputError, ValueError),
        (konane.FileError, OSError),
        (konane.ResourceError, MemoryError),
        (konane.InternalError, RuntimeError),
    ]:
        assert issubclass(error, kind) and issubclass(error, konane.Error)
        assert error.__module__ == "konane"


@pytest.mark.parametrize("module", [konane, sprouts])
def test_examples_of_docstrings(module):
    assert doctest.testmod(module).failed == 0


def test_examples_of_the_readme(tmp_path):
    if not README.exists():
        pytest.skip("the README is not here")
    before = os.getcwd()
    os.chdir(tmp_path)
    try:
        result = doctest.testfile(
            str(README), module_relative=False, optionflags=doctest.ELLIPSIS
        )
    finally:
        os.chdir(before)
    assert result.attempted > 10 and result.failed == 0


def test_the_example_of_the_documentation(tmp_path, monkeypatch, capsys):
    if not LIBRARIES.exists():
        pytest.skip("docs/libraries.md is not here")
    [example] = re.findall(r"^```python\n(.*?)^```", LIBRARIES.read_text(), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(example, {})
    assert capsys.readouterr().out.splitlines()[-1] == "loss 0"


def test_the_notebook(capsys):
    """Every cell runs, prints the lines and has the value that the notebook shows."""
    pytest.importorskip("matplotlib").use("Agg")
    pretty = pytest.importorskip("IPython.lib.pretty").pretty
    if not NOTEBOOK.exists():
        pytest.skip("the notebook is not here")
    names = {}
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        value = last and eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        shown = [output for output in cell["outputs"] if output["output_type"] == "execute_result"]
        for output in shown:
            text = "".join(output["data"]["text/plain"])
            assert text.startswith("<") or pretty(value) == text
        printed = [line for output in cell["outputs"] if output["output_type"] == "stream" for line in output["text"]]
        assert capsys.readouterr().out == "".join(printed)
    assert len(cells) > 10


def test_subinterpreters_are_rejected():
    program = """
import konane
try:
    import _xxsubinterpreters as interpreters
except ImportError:
    import _interpreters as interpreters

# The interpreters share a GIL, like those of web servers.
try:
    other = interpreters.create(isolated=False)
except TypeError:
    other = interpreters.create("legacy")
interpreters.run_string(other, '''
try:
    import konane
except ImportError as error:
    print(error, flush=True)
''')
interpreters.destroy(other)
try:
    konane.Position("9x9")
except konane.InputError:
    print("here it works")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and "interpreter" in lines[0], done.stderr
    assert lines[1] == "here it works"


def test_the_cluster_without_ray_reports_the_missing_package(tmp_path):
    (tmp_path / "ray.py").write_text("raise ImportError('not installed')\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}

    def errors(*arguments: str) -> tuple[int, list[str]]:
        command = [sys.executable, *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        return done.returncode, done.stderr.splitlines()

    needs = 'konane.cluster needs Ray: pip install "./python[cluster]", in a clone of konane'
    assert errors("-m", "konane.cluster", "--help") == (2, [f"error: {needs}"])
    code, lines = errors("-c", "import konane.cluster")
    assert (code, lines[-1]) == (1, f"ImportError: {needs}")
