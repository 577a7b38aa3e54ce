"""HTML for notebooks."""

from __future__ import annotations

import html
from typing import Iterable, Sequence

_COLORS = {"holds": "#1a7f37", "fails": "#cf222e", "unknown": "#9a6700"}


def escaped(text: object) -> str:
    """A text that may stand in HTML."""
    return html.escape(str(text))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells of the rows are HTML already."""
    line = "".join(f"<th style='text-align:left'>{escaped(cell)}</th>" for cell in head)
    cell = "<td style='text-align:left'>{}</td>"
    body = "".join("<tr>" + "".join(cell.format(one) for one in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{line}</tr></thead><tbody>{body}</tbody></table>"


def verdict(word: str, shown: str = "") -> str:
    """A verdict in its colour, or another word in the colour of a verdict."""
    return f"<b style='color:{_COLORS.get(word, 'inherit')}'>{escaped(shown or word)}</b>"


def bullets(items: Sequence[str]) -> str:
    """A list; its items are HTML already. Nothing if there are none."""
    return f"<ul>{''.join(f'<li>{item}</li>' for item in items)}</ul>" if items else ""


def frame(page: str, height: int = 420) -> str:
    """A whole page inside a cell, without access to the notebook."""
    return (
        f"<iframe sandbox='allow-scripts' style='width:100%;height:{height}px;border:1px solid #ddd' "
        f'srcdoc="{html.escape(page, quote=True)}"></iframe>'
    )
