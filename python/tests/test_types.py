"""`mypy --strict` accepts the package, its stubs, and the code of the notebooks."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import pytest

import masque_mc

ROOT = pathlib.Path(__file__).resolve().parents[1]


def run_mypy(*arguments: object, folder: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder / "cache", *arguments]
    parent = pathlib.Path(masque_mc.__file__).parents[1]
    environment = dict(os.environ)
    if parent.name != "site-packages":
        environment["MYPYPATH"] = str(parent)
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_package_and_its_stubs(tmp_path: pathlib.Path) -> None:
    folder = pathlib.Path(masque_mc.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_native.pyi").exists()
    run_mypy("-p", "masque_mc", folder=tmp_path)


def test_the_notebooks(tmp_path: pathlib.Path) -> None:
    files = []
    for path in sorted((ROOT / "examples").glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        file = tmp_path / f"{path.stem}_notebook.py"
        file.write_text("\n".join(cells) + "\n", encoding="utf-8")
        files.append(file)
    run_mypy(*files, folder=tmp_path)


def test_wrong_types_are_found(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text("import masque_mc\nmasque_mc.loads(3)\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="arg-type"):
        run_mypy(file, folder=tmp_path)
