"""Bar charts as inline SVG, drawn by gnuplot. Colours are CSS variables, so the page's theme decides them."""

import dataclasses
import re
import subprocess

# Series are drawn in the marker colours rgb(0, 0, n), which become var(--series-n); the grid's is 255.
SERIES_AT_MOST = 8
_GRID = 255

_SCRIPT = """
set terminal svg size 720,360 dynamic font "sans-serif,13" name "{name}"
set style data histograms
set style histogram {style}
set style fill solid 1 noborder
set boxwidth {box}
set yrange [0:*]
set border 1
set xtics nomirror scale 0
set ytics nomirror scale 0
set grid ytics linetype 1 linecolor rgb "#0000ff"
{key}
set ylabel "{unit}"
set xlabel "{across}"
set bmargin {margin}
$data << EOD
{rows}
EOD
plot {series}
"""


@dataclasses.dataclass
class BarChart:
    """`values[i][j]`: category i, series j; None is drawn as nothing. `name` is an identifier."""

    name: str
    unit: str
    categories: list
    series: list
    values: list
    across: str = ""
    stacked: bool = False

    def svg(self):
        """The chart, or None where there is nothing to draw. Raises FileNotFoundError without gnuplot."""
        if not any(v is not None for row in self.values for v in row):
            return None
        assert len(self.series) <= SERIES_AT_MOST
        rows = "\n".join(
            " ".join(['"' + category.replace(" ", r"\n") + '"'] + ["0" if v is None else f"{v:g}" for v in row])
            for category, row in zip(self.categories, self.values)
        )
        series = ", ".join(
            f'$data using {j + 2}:xtic(1) title "{title}" noenhanced linecolor rgb "#{j + 1:06x}"'
            for j, title in enumerate(self.series)
        )
        style, box = ("rowstacked", 0.6) if self.stacked else ("clustered gap 1", 0.9)
        key = "set key outside top center horizontal reverse Left samplen 1.5" if len(self.series) > 1 else "unset key"
        # Lines of text below the axis: the categories' names, broken at blanks, and the label.
        lines = max(category.count(" ") for category in self.categories) + 1 + 1.5 * bool(self.across)
        script = _SCRIPT.format(name=self.name, style=style, box=box, key=key, margin=lines + 0.5, unit=self.unit,
                                across=self.across, rows=rows, series=series)
        drawn = subprocess.run(["gnuplot"], input=script, stdout=subprocess.PIPE, text=True, check=True)
        return _for_page(drawn.stdout)


def _colour(match):
    number = int(match["n"])
    variable = "--grid" if number == _GRID else f"--series-{number}"
    return f'style="{match["attribute"]}:var({variable})"'


def _for_page(svg):
    """Drops what a page does not want (prologue, shared ids, empty groups) and fixed colours."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<defs>.*?</defs>|<title>.*?</title>|<desc>.*?</desc>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<g [^>]*>\s*</g>\n?", "", svg)
    svg = re.sub(r"(?P<attribute>fill|stroke)\s*=\s*['\"]rgb\(\s*0,\s*0,\s*(?P<n>\d+)\)['\"]", _colour, svg)
    svg = re.sub(r"(fill|stroke)\s*=\s*['\"]black['\"]", r'\1="currentColor"', svg)
    svg = re.sub(r' color="(?:black|white)"', "", svg)
    return svg.replace("<svg", '<svg aria-hidden="true"', 1)
