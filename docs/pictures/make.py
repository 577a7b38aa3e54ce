#!/usr/bin/env python3
"""Draws the pictures of README and the book from the output of Masque.

    python3 docs/pictures/make.py MASQUE [--check]

MASQUE is the program. Each picture is one drawing of the HTML page that `masque check` writes. The colours of the page
come along, so each SVG file has a light and a dark version; the viewer's setting selects one. With --check nothing is
written, and the exit code is 1 if a file differs. Only Python's standard library is needed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent

# File, number of the drawing on the page, arguments of `masque check`.
PICTURES = [
    ("bit-transmission.svg", 0, ["models/ispl/bit_transmission_faulty2.ispl", "--only", "1"]),
    ("llm-team.svg", 0, ["models/lcc/llm_team.lcc", "--only", "ends"]),
    ("two-phase-commit.svg", 0, ["models/lcc/two_phase_commit.lcc", "--only", "non_blocking"]),
    ("card-game.svg", 0, ["models/ispl/card_game.ispl", "--only", "4", "--evidence", "all"]),
    ("robot.svg", 0, ["models/bdi/robot.bdi", "--only", "not_blind"]),
    ("lamps.svg", 0, ["docs/pictures/lamps.ispl", "--only", "2"]),
]


def page(program, arguments):
    """Returns the HTML page of a check."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        command = [program, "check", "-q", *arguments, "--evidence-format", "html", "--evidence-out", str(path)]
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False)
        if done.returncode not in (0, 1):
            sys.exit(f"{' '.join(command)} ends with {done.returncode}")
        return path.read_text(encoding="utf-8")


def style(html):
    """Returns the rules of the page that a drawing needs: its colours and what is about parts of drawings."""
    rules = re.search(r"<style>\n(.*?)</style>", html, re.S).group(1)
    colours = rules[: rules.index("\n* {")].replace("screen and ", "")
    drawing = rules[rules.index("svg text {") : rules.index(".hidden {")]
    font = "text { font-family: \"DejaVu Sans Mono\", ui-monospace, Menlo, Consolas, monospace; }"
    return f"{colours}\n{font}\n{drawing}.page {{ fill: var(--page); stroke: none; }}\n"


def picture(html, number):
    """Returns one drawing of a page as an SVG file of its own."""
    marker = re.search(r"<defs>.*?</defs>", html, re.S).group(0)
    drawings = re.findall(r'(<svg xmlns[^>]*viewBox="0 0 ([\d.]+) ([\d.]+)">)(.*?</svg>)', html, re.S)
    start, width, height, rest = drawings[number]
    ground = f'<rect class="page" style="fill: var(--page); stroke: none" width="{width}" height="{height}" rx="8"/>'
    return f"{start}\n<style>\n{style(html)}</style>\n{marker}\n{ground}{rest}\n"


def main():
    """Writes the pictures, or compares them."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--check"]
    if len(arguments) != 1:
        sys.exit("usage: make.py MASQUE [--check]")
    program = str(Path(arguments[0]).resolve())
    different = []
    for name, number, check in PICTURES:
        path, text = FOLDER / name, picture(page(program, check), number)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            different.append(name)
    if different:
        sys.exit(f"not what `make.py` draws: {', '.join(different)}")


if __name__ == "__main__":
    main()
