"""The page of a report: one HTML file with embedded figures, without scripts or links."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from astray.viewer.reports.report_data import HEADINGS, MetricsRow, ReportData, format_row

STYLE = """
body { font: 16px/1.5 Georgia, "Times New Roman", serif; color: #222; background: #fff;
  max-width: 52rem; margin: 2.5rem auto; padding: 0 1.25rem; }
h1, h2, th, figcaption b, .facts dt { font-family: system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
.lead { color: #555; margin: .3rem 0 1.5rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; width: 100%;
  font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: 600; border-bottom: 1.5px solid #222; padding: .25rem .6rem;
  white-space: nowrap; }
td { text-align: right; padding: .18rem .6rem; border-bottom: 1px solid #e5e5e5;
  white-space: nowrap; }
th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
th span { display: block; font-weight: 400; color: #777; }
figure { margin: 1.2rem 0 2rem; } figure img { width: 100%; height: auto; }
figcaption { font-size: .85rem; color: #444; }
pre { background: #f5f5f3; padding: .8rem 1rem; overflow-x: auto; font-size: .8rem; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: 0;
  font-size: .9rem; }
.facts dt { color: #666; } .facts dd { margin: 0; }
@media print { body { margin: 0; max-width: none; } figure, tr { break-inside: avoid; } }
"""


def report_page(
    data: ReportData,
    metrics: Sequence[MetricsRow],
    figures: Sequence[tuple[str, str, bytes]],
    commands: Sequence[str],
) -> str:
    """Make the page of a report.

    Args:
        data: The run.
        metrics: The rows of its metrics table.
        figures: Name, caption and PNG bytes of each figure.
        commands: The command lines that repeat the run.

    Returns:
        The HTML text.
    """
    title = f"{escape(data.name)}: truth and belief"
    figure_html = "\n".join(_figure(k, *figure) for k, figure in enumerate(figures, start=1))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
<p class="lead">{escape(_lead(data, metrics))}</p>
<h2>What was run</h2>
{_facts(data)}
<h2>How far belief went astray</h2>
{_table(metrics)}
<h2>Figures</h2>
{figure_html}
<h2>How to repeat it</h2>
<p>The same scenario, seed and events give the same run, bit for bit. The files are beside this
page.</p>
<pre>{escape(chr(10).join(commands))}</pre>
<details><summary>scenario.yaml</summary>
<pre>{escape(data.scenario)}</pre>
</details>
</body>
</html>
"""


def _lead(data: ReportData, metrics: Sequence[MetricsRow]) -> str:
    robots = len({row.robot for row in metrics})
    count = "one robot" if robots == 1 else f"{robots} robots"
    return f"{count}, {data.duration:g} s, seed {data.seed}"


def _facts(data: ReportData) -> str:
    """The definition list of what was run."""
    facts = {
        "scenario": data.name,
        "seed": str(data.seed),
        "simulated": f"{data.duration:g} s",
        "worlds": str(len(data.worlds)),
        "robots": ", ".join(_describe_groups(data)) or "none",
        "events": str(len(data.events)),
        "collisions": str(data.collisions),
        "astray": data.version,
    }
    if data.map is not None:
        facts["map"] = f"{data.map.name or 'a map'} of {len(data.map)} segments"
    rows = "\n".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f'<dl class="facts">\n{rows}\n</dl>'


def _describe_groups(data: ReportData) -> list[str]:
    """Count, name, estimator and rivals of each group."""
    descriptions = []
    for group in data.groups:
        series = data.series_of(group)
        count = len(next(iter(series.values())))
        rivals = [data.belief_name(group, subject) for subject in series if subject != "belief"]
        against = f" against {', '.join(rivals)}" if rivals else ""
        own = data.belief_name(group, "belief")
        descriptions.append(f"{count} × {group} by {own}{against}")
    return descriptions


def _table(metrics: Sequence[MetricsRow]) -> str:
    head = "".join(
        f"<th>{escape(text)}<span>{escape(unit) or '&nbsp;'}</span></th>" for text, unit in HEADINGS
    )
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in format_row(row)) + "</tr>"
        for row in metrics
    )
    return f'<div class="scroll"><table>\n<tr>{head}</tr>\n{rows}\n</table></div>'


def _figure(number: int, name: str, caption: str, png: bytes) -> str:
    data = base64.b64encode(png).decode()
    return (
        f'<figure id="{escape(name)}"><img alt="{escape(caption)}" '
        f'src="data:image/png;base64,{data}">\n'
        f"<figcaption><b>Figure {number}.</b> {escape(caption)}</figcaption></figure>"
    )
