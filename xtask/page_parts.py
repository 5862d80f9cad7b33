"""Parts of generated pages: numbers as text, tables, templates, records of runs, figures.

`pages.py` and `papers/reproduce.py` use it. It imports neither of them.
"""

import io
import math
from pathlib import Path

MATPLOTLIB = "3.11.2"
ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NONE = "–"
ALGORITHMS = {"dfpn": "df-pn", "pns": "PNS", "pn2": "PN²", "ab": "α-β"}


class Problem(Exception):
    """An error in the input, with a message for the user."""


# --- Numbers as text -------------------------------------------------------------------------------


def rounded(number):
    """The nearest whole number; halves are rounded up."""
    return math.floor(number + 0.5)


def grouped(number):
    """A whole number with commas between groups of three digits."""
    return f"{number:,}"


def figures(number):
    """A number with three significant digits, but at most five decimals; from 100 on a whole number."""
    limits = [(0.00995, 5), (0.0995, 4), (0.9995, 3), (9.995, 2), (99.95, 1)]
    for limit, decimals in limits:
        if abs(number) < limit:
            return f"{number:.{decimals}f}"
    return grouped(rounded(number))


def time(seconds):
    """A time with three digits: `0.81 ms`, `12.3 s`; in hours from two hours on."""
    if seconds < 0.1:
        return f"{figures(seconds * 1e3)} ms"
    return f"{figures(seconds)} s" if seconds < 7200 else f"{figures(seconds / 3600)} h"


def cpu_time(seconds):
    """Processor time. Its resolution is 10 ms."""
    return "< 10 ms" if seconds < 0.005 else time(seconds)


def short(number):
    """A number with three digits and a letter: `12.3 M`."""
    for limit, factor, letter in [(999.5e3, 1e3, "k"), (999.5e6, 1e6, "M"), (math.inf, 1e9, "G")]:
        if number < 999.5:
            return grouped(rounded(number))
        if number < limit:
            return f"{figures(number / factor)} {letter}"


def size(number):
    """Bytes in binary units with three digits."""
    mebibytes = number / 2**20
    return f"{figures(mebibytes)} MiB" if mebibytes < 999.5 else f"{figures(mebibytes / 1024)} GiB"


def times(factor):
    return f"{figures(factor)} ×"


def ratio(number):
    return f"{number:.2f}"


def optional(value, text=str):
    """The text of a value, or NONE."""
    return NONE if value is None else text(value)


def ranges(numbers):
    """Ascending numbers as `1, 3–5`."""
    runs = []
    for number in numbers:
        if runs and runs[-1][-1] + 1 == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [f"{run[0]}–{run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return ", ".join(texts) or NONE


# --- Tables and pages ------------------------------------------------------------------------------


def table(headings, rows):
    """A Markdown table. Headings are separated by `|`; `>` marks a right-aligned column."""
    headings = headings.split("|")
    lines = [[heading.removeprefix(">") for heading in headings]] + rows
    assert all(len(line) == len(headings) for line in lines), headings
    texts = ["| " + " | ".join(map(str, line)) + " |\n" for line in lines]
    texts.insert(1, "".join("|---:" if h.startswith(">") else "|---" for h in headings) + "|\n")
    return "".join(texts)


def csv_table(headings, rows):
    """A CSV table (RFC 4180 with line feeds). A missing value is an empty cell."""
    lines = [headings.split(",")] + [[csv_cell(cell) for cell in row] for row in rows]
    for line in lines:
        # The cells are numbers and names, so none needs quotes.
        assert len(line) == len(lines[0]) and not any(set(c) & set(',"\n') for c in line), line
    return "".join(",".join(line) + "\n" for line in lines)


def csv_cell(value):
    """At most six decimals, without trailing zeros."""
    if isinstance(value, float):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return "" if value is None else str(value)


def page(template, **parts):
    """The text of a template file, with each `{{name}}` replaced by its part."""
    text = template.read_text()
    for key, part in parts.items():
        placeholder = "{{" + key.replace("_", " ") + "}}"
        assert placeholder in text, f"no {placeholder} in {template.name}"
        text = text.replace(placeholder, str(part).rstrip())
    assert "{{" not in text, f"a placeholder in {template.name} has no part"
    return text.rstrip() + "\n"


# --- Published and raw results ---------------------------------------------------------------------


def published(name):
    """Rows of a table in tests/data, by column names."""
    lines = (ROOT / "tests/data" / name).read_text().splitlines()
    rows = [line.split(",") for line in lines if line and not line.startswith("#")]
    return [dict(zip(rows[0], row)) for row in rows[1:]]


class Record(dict):
    """One run of the program. Older records lack some fields."""

    def __missing__(self, key):
        return None

    @property
    def nodes(self):
        """Nodes of a search; of `perft` the sum over all plies."""
        nodes = self.result["nodes"]
        if nodes is None:
            nodes = self.result["unique"] or 0
        return sum(nodes) if isinstance(nodes, list) else nodes

    @property
    def result(self):
        """The object that the program printed."""
        return self["result"]

    @property
    def outcome(self):
        """Winner of Konane or outcome of Sprouts; may be `unknown`. Old records of Konane have the
        winner as `outcome`."""
        return self.result["winner"] or self.result["outcome"]

    @property
    def found(self):
        """The outcome, or None if the run ended without an answer."""
        return None if self.result["reason"] else self.outcome


# --- Figures ---------------------------------------------------------------------------------------

INK, GRID, WHITE = "#282828", "#DEDEDE", "#FFFFFF"
# Distinct for colour-blind readers (Okabe and Ito).
BLUE, ORANGE, GREEN, PURPLE = COLOURS = ["#0072B2", "#D55E00", "#009E73", "#AA5096"]
SHAPES = ["o", "s", "^", "D"]


def series_style(index):
    """The shape and colour of a series of a figure. 16 series have different ones."""
    return SHAPES[(index + index // 4) % 4], COLOURS[index % 4]


def figure(width, height, **layout):
    """A matplotlib figure of this size in inches, and its axes."""
    from matplotlib import pyplot

    pyplot.rcdefaults()
    pyplot.rcParams.update(
        {
            # The same input gives the same bytes.
            "svg.hashsalt": "konane",
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 10,
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.titlelocation": "left",
            "axes.titlesize": 12,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "grid.color": GRID,
            "grid.linewidth": 0.8,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "xtick.minor.size": 0,
            "ytick.minor.size": 0,
            "legend.frameon": False,
            "lines.markersize": 7,
            "lines.markeredgewidth": 1.5,
        }
    )
    return pyplot.subplots(figsize=(width, height), layout="constrained", **layout)


def svg(fig):
    """The figure as SVG text. Its background is opaque, so that it can be read on a dark page."""
    from matplotlib import pyplot

    output = io.StringIO()
    fig.savefig(output, format="svg", facecolor=WHITE, metadata={"Date": None})
    pyplot.close(fig)
    return "\n".join(line.rstrip() for line in output.getvalue().splitlines()) + "\n"


def mark(axes, x, y, shape, colour, is_filled=True, **more):
    """Markers on a line; hollow ones for published and hypothetical numbers."""
    fill = colour if is_filled else WHITE
    return axes.plot(x, y, marker=shape, color=colour, markerfacecolor=fill, **more)


def entry(label, shape="", colour=INK, is_filled=True, line="none"):
    """An entry of a legend."""
    from matplotlib.lines import Line2D

    fill = colour if is_filled else WHITE
    style = {"marker": shape, "color": colour, "markerfacecolor": fill, "linestyle": line}
    return Line2D([], [], label=label, **style)
