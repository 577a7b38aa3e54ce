"""What notebooks and frames show."""

from __future__ import annotations

import pathlib

import pytest

import masque_mc

MODEL = """
Agent Counter
  Vars: n : 0..3; end Vars
  Actions = {tick, wait};
  Protocol: Other : {tick, wait}; end Protocol
  Evolution: n = n + 1 if n < 3 and Action = tick; end Evolution
end Agent
InitStates Counter.n = 0; end InitStates
Formulae never : AG Counter.n < 2; forever : AF Counter.n = 3; possible : EF Counter.n = 3; end Formulae
"""


def test_html_of_results_and_evidence(tmp_path: pathlib.Path) -> None:
    results = masque_mc.loads(MODEL, "ispl").check()
    html = results._repr_html_()
    assert "fails" in html and "AG Counter.n &lt; 2" in html and "4 reachable states" in html
    evidence = results["never"].evidence
    page = tmp_path / "page.html"
    evidence.to_html(page)
    assert page.read_text(encoding="utf-8") == evidence.to_html()
    shown = evidence._repr_html_()
    assert shown.startswith("<iframe sandbox=") and "&lt;svg" in shown and "<svg" not in shown
    assert "Counter.n" in evidence.walks[0]._repr_html_()
    assert "never" in results["never"]._repr_html_()
    assert str(evidence) and results.to_html().count("<svg") >= evidence.to_html().count("<svg")


def test_a_loop() -> None:
    walk = masque_mc.loads(MODEL, "ispl").check()["forever"].evidence.walks[0]
    assert walk.loop is not None and len(walk.steps) == len(walk)
    assert "forever" in walk._repr_html_()


def test_witnesses_on_request() -> None:
    model = masque_mc.loads(MODEL, "ispl")
    assert model.check()["possible"].evidence is None
    assert model.check(evidence="all")["possible"].evidence is not None
    assert model.check(evidence="none")["never"].evidence is None


def test_frames() -> None:
    pandas = pytest.importorskip("pandas")
    model = masque_mc.loads(MODEL, "ispl")
    results = model.check()
    frame = results["never"].evidence.to_frame()
    assert isinstance(frame, pandas.DataFrame) and list(frame["Counter.n"]) == [0, 1, 2]
    assert list(frame["step"])[:2] == ["Counter: tick"] * 2
    assert list(results.to_frame()["verdict"]) == ["fails", "fails", "holds"]
    assert len(model.states().to_frame()) == 4
