#!/usr/bin/env python3
"""Plots the figures of `make bench-fleet` as SVG: chips in use over time, and waits by size of the job.

    make bench-fleet ARGS='--json build/fleet.json'
    tests/bench/fleet/plot.py build/fleet.json build
"""

import json
import math
import pathlib
import sys
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 960, 420
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 40, 50
COLOURS = {
    "ours": "#1b6ca8",
    "by-name": "#d1495b",
    "pod-by-pod": "#8d6a9f",
    "best-fit": "#3a8f5c",
    "bound": "#555555",
}
# A mean over so many hours makes a line of weeks readable.
SMOOTHED_HOURS = 12


def text(x, y, value, anchor="middle", size=12, turn=0):
    turned = f' transform="rotate({turn} {x:.1f} {y:.1f})"' if turn else ""
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'font-family="sans-serif"{turned}>{escape(str(value))}</text>')


def line(x1, y1, x2, y2, colour="#cccccc"):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'


def document(title, parts):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
            f'height="{HEIGHT}"><rect width="100%" height="100%" fill="white"/>')
    return "\n".join([head, text(WIDTH / 2, 22, title, size=15), *parts, "</svg>"]) + "\n"


def legend(names):
    parts = []
    for index, name in enumerate(names):
        y = TOP + 20 * index
        x = WIDTH - RIGHT + 15
        parts.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLOURS.get(name, "black")}"/>')
        parts.append(text(x + 18, y + 11, name, anchor="start"))
    return parts


def smoothed(values):
    out = []
    for index in range(len(values)):
        window = values[max(0, index - SMOOTHED_HOURS + 1):index + 1]
        out.append(sum(window) / len(window))
    return out


def plot_chips_in_use(figures):
    policies = figures["policies"]
    days = max(policy["series"]["hours"][-1] for policy in policies) / 24
    x_of = lambda day: LEFT + (WIDTH - LEFT - RIGHT) * day / days
    y_of = lambda part: HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part
    parts = []
    for percent in range(0, 101, 20):
        y = y_of(percent / 100)
        parts += [line(LEFT, y, WIDTH - RIGHT, y), text(LEFT - 8, y + 4, f"{percent} %", anchor="end")]
    step = max(1, round(days / 7))
    for day in range(0, math.floor(days) + 1, step):
        parts.append(text(x_of(day), HEIGHT - BOTTOM + 18, day))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "days"))
    for policy in policies:
        series = policy["series"]
        points = " ".join(f"{x_of(hour / 24):.1f},{y_of(value):.1f}"
                          for hour, value in zip(series["hours"], smoothed(series["in_use"])))
        dashes = ' stroke-dasharray="5 4"' if policy["name"] == "bound" else ""
        parts.append(f'<polyline points="{points}" fill="none" stroke-width="1.6" '
                     f'stroke="{COLOURS.get(policy["name"], "black")}"{dashes}/>')
    title = f"Chips in use, {figures['nodes']} nodes, load {figures['load']}, mean of {SMOOTHED_HOURS} h"
    return document(title, parts + legend([policy["name"] for policy in policies]))


def plot_waits(figures):
    """Bars of the 95th percentile, with a mark at the median, on a logarithmic scale from a minute on."""
    policies = [policy for policy in figures["policies"] if "waits" in policy]
    if not policies:
        return None
    lowest = 1 / 60
    highest = max([lowest * 10] + [waits["p95"] for policy in policies for waits in policy["waits"]])
    decades = math.log10(highest / lowest)

    def y_of(hours):
        part = max(0.0, math.log10(max(hours, lowest) / lowest) / decades)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    parts = []
    for hours, name in ((1 / 60, "1 min"), (1 / 6, "10 min"), (1, "1 h"), (10, "10 h"), (100, "100 h")):
        if hours > highest:
            continue
        parts += [line(LEFT, y_of(hours), WIDTH - RIGHT, y_of(hours)), text(LEFT - 8, y_of(hours) + 4, name, "end")]
    classes = [waits["chips"] for waits in policies[0]["waits"]]
    group = (WIDTH - LEFT - RIGHT) / len(classes)
    bar = group * 0.8 / len(policies)
    for index, chips in enumerate(classes):
        begin = LEFT + group * (index + 0.1)
        parts.append(text(begin + group * 0.4, HEIGHT - BOTTOM + 18, f"{chips} chips"))
        for place, policy in enumerate(policies):
            waits = policy["waits"][index]
            x = begin + bar * place
            top = y_of(waits["p95"])
            colour = COLOURS.get(policy["name"], "black")
            parts.append(f'<rect x="{x:.1f}" y="{top:.1f}" width="{bar * 0.9:.1f}" '
                         f'height="{HEIGHT - BOTTOM - top:.1f}" fill="{colour}" fill-opacity="0.75"/>')
            parts.append(line(x, y_of(waits["p50"]), x + bar * 0.9, y_of(waits["p50"]), "black"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, "all slices of the job"))
    title = "Wait until a job first runs: 95 % wait less than the bar, half less than the line"
    return document(title, parts + legend([policy["name"] for policy in policies]))


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: plot.py FILE.json [DIRECTORY]")
    figures = json.loads(pathlib.Path(sys.argv[1]).read_text())
    directory = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else ".")
    directory.mkdir(parents=True, exist_ok=True)
    for name, plot in (("fleet-chips-in-use.svg", plot_chips_in_use), ("fleet-waits.svg", plot_waits)):
        svg = plot(figures)
        if svg is None:
            continue
        (directory / name).write_text(svg)
        print(directory / name)


if __name__ == "__main__":
    main()
