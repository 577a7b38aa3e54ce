"""Doc strings, documents and notebooks: every public name has an example, and all examples are run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import re

import pytest

import masque_mc

ROOT = pathlib.Path(__file__).resolve().parents[1]
DOCS = pathlib.Path(os.environ.get("MASQUE_DOCS", ROOT.parent / "docs"))
MODULES = [name for _, name, _ in pkgutil.iter_modules(masque_mc.__path__) if name not in ("_native", "_worker")]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_doc_strings(name: str) -> None:
    module = importlib.import_module(f"masque_mc.{name}" if name else "masque_mc")
    failed, _ = doctest.testmod(module)
    assert failed == 0


def public_members() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name in masque_mc.__all__:
        value = getattr(masque_mc, name)
        found.append((name, value))
        if inspect.isclass(value):
            for member, inner in vars(value).items():
                is_documented = inspect.isfunction(inner) or isinstance(inner, (property, staticmethod))
                if not member.startswith("_") and is_documented:
                    found.append((f"{name}.{member}", inner))
    return found


def test_every_public_name_has_an_example() -> None:
    constants = {"true", "false"}
    lacking = [
        name
        for name, value in public_members()
        if name not in constants and ">>>" not in (inspect.getdoc(value) or "")
    ]
    assert lacking == []


@pytest.mark.parametrize("path", [ROOT / "README.md", DOCS / "python.md"])
def test_examples_in_documents(path: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {}
    for block in blocks:
        test = doctest.DocTestParser().get_doctest(block, names, path.name, str(path), 0)
        if test.examples:
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
            names.update(test.globs)
        else:
            exec(compile(block, str(path), "exec"), names)  # noqa: S102


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    client = nbclient.NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()


def test_there_are_notebooks() -> None:
    assert len(list((ROOT / "examples").glob("*.ipynb"))) >= 3
