"""A report as one page that needs nothing else: pictures are within it, and no script is."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from astray.viewer.reports.metrics import HEADINGS, MetricLine, cells
from astray.viewer.reports.source import Story

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
    story: Story,
    lines: Sequence[MetricLine],
    pictures: Sequence[tuple[str, str, bytes]],
    commands: Sequence[str],
) -> str:
    """The page; pictures are name, caption and the bytes of a PNG."""
    title = f"{escape(story.name)}: truth and belief"
    figures = "\n".join(_figure(k, *one) for k, one in enumerate(pictures, start=1))
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
<p class="lead">{escape(_lead(story, lines))}</p>
<h2>What was run</h2>
{_facts(story)}
<h2>How far belief went astray</h2>
{_table(lines)}
<h2>Figures</h2>
{figures}
<h2>How to repeat it</h2>
<p>The same scenario, seed and events give the same run, bit for bit. The files are beside this
page.</p>
<pre>{escape(chr(10).join(commands))}</pre>
<details><summary>scenario.yaml</summary>
<pre>{escape(story.scenario)}</pre>
</details>
</body>
</html>
"""


def _lead(story: Story, lines: Sequence[MetricLine]) -> str:
    robots = len({line.robot for line in lines})
    who = "one robot" if robots == 1 else f"{robots} robots"
    return f"{who}, {story.duration:g} s, seed {story.seed}"


def _facts(story: Story) -> str:
    facts = {
        "scenario": story.name,
        "seed": str(story.seed),
        "simulated": f"{story.duration:g} s",
        "worlds": str(len(story.worlds)),
        "robots": ", ".join(_robots(story)) or "none",
        "events": str(len(story.events)),
        "collisions": str(story.collisions),
        "astray": story.version,
    }
    if story.map is not None:
        facts["map"] = f"{story.map.name or 'a map'} of {len(story.map)} segments"
    rows = "\n".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in facts.items())
    return f'<dl class="facts">\n{rows}\n</dl>'


def _robots(story: Story) -> list[str]:
    found = []
    for group in story.groups:
        beliefs = story.of(group)
        count = len(next(iter(beliefs.values())))
        rivals = [story.called(group, who) for who in beliefs if who != "belief"]
        against = f" against {', '.join(rivals)}" if rivals else ""
        found.append(f"{count} × {group} by {story.called(group, 'belief')}{against}")
    return found


def _table(lines: Sequence[MetricLine]) -> str:
    head = "".join(
        f"<th>{escape(text)}<span>{escape(unit) or '&nbsp;'}</span></th>"
        for text, unit in HEADINGS.values()
    )
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells(line)) + "</tr>"
        for line in lines
    )
    return f'<div class="scroll"><table>\n<tr>{head}</tr>\n{rows}\n</table></div>'


def _figure(number: int, name: str, caption: str, picture: bytes) -> str:
    data = base64.b64encode(picture).decode()
    return (
        f'<figure id="{escape(name)}"><img alt="{escape(caption)}" '
        f'src="data:image/png;base64,{data}">\n'
        f"<figcaption><b>Figure {number}.</b> {escape(caption)}</figcaption></figure>"
    )
