# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the JSON of ci/bench as SVG, without any library."""

import json
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 860, 420, 70, 60, 60
NAMES, ROW = 565, 26  # of the bars: where their names end, and from one to the next
COLOURS = ["#0b525b", "#1982c4", "#6a4c93", "#ff595e", "#ff924c", "#8ac926", "#444444"]


def machine_of(report):
    """What a report was measured on; older ones name the length of vectors with the machine."""
    machine = report["context"]["machine"]
    return machine if "-bit vectors" in machine else f"{machine}, {report['context']['vector_bits']}-bit vectors"


class Picture:
    """An SVG picture with a title that names the machine."""

    def __init__(self, title, subtitle, height=HEIGHT):
        self.height = height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        ]
        self.text(20, 24, title, 'font-size="16" font-weight="bold"')
        self.text(20, 43, subtitle, 'fill="#555"')

    def text(self, x, y, words, style=""):
        words = str(words).replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" {style}>{words}</text>')

    def line(self, points, colour, width=2):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>')

    def bar(self, x, y, width, height, colour):
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 0):.1f}" height="{height}" fill="{colour}"/>'
        )

    def write(self, path):
        path.write_text("\n".join(self.parts) + "\n</svg>\n")
        print(path)


def lines(path, title, subtitle, label, series):
    """Lines over a logarithmic axis of powers of two; series: {name: {x: y}}."""
    picture = Picture(title, subtitle)
    places = sorted({x for values in series.values() for x in values})
    top = max(y for values in series.values() for y in values.values()) * 1.05
    right = WIDTH - 150

    def at(x, y):
        share = math.log2(x / places[0]) / max(math.log2(places[-1] / places[0]), 1)
        return LEFT + share * (right - LEFT), HEIGHT - BOTTOM - y / top * (HEIGHT - BOTTOM - TOP)

    for step in range(5):
        y = top * step / 4
        x0, height = at(places[0], y)
        picture.line([(x0, height), (right, height)], "#ddd", 1)
        picture.text(x0 - 8, height + 4, f"{y:.0f}", 'text-anchor="end"')
    for x in places:
        picture.text(at(x, 0)[0], HEIGHT - BOTTOM + 18, x, 'text-anchor="middle"')
    picture.text((LEFT + right) / 2, HEIGHT - 18, label, 'text-anchor="middle"')
    for i, (name, values) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        picture.line([at(x, y) for x, y in sorted(values.items())], colour)
        picture.bar(right + 12, TOP + 20 * i, 12, 12, colour)
        picture.text(right + 30, TOP + 11 + 20 * i, name)
    picture.write(path)


def draw_growth(report, path, threads):
    """Bandwidth against rows, one line per vocabulary, and the other way round."""
    by_vocabulary, by_rows = {}, {}
    for result in report["benchmarks"]:
        _, _, rows, vocabulary = result["name"].split("/")
        speed = result["bytes_per_second"] / 1e9
        by_vocabulary.setdefault(f"V = {vocabulary}", {})[int(rows)] = speed
        by_rows.setdefault(f"n = {rows}", {})[int(vocabulary)] = speed
    some = {name: by_rows[name] for name in list(by_rows)[::2] + list(by_rows)[-1:]}
    machine = f"{machine_of(report)}; {threads} threads used"
    title = "Probabilities, float32: GB/s read and written"
    lines(path.with_name(path.stem + "-rows.svg"), title, machine, "rows", by_vocabulary)
    lines(path.with_name(path.stem + "-vocabulary.svg"), title, machine, "vocabulary", some)


def draw_ratios(report, path):
    """A bar for every ratio, then one for every speedup."""
    panels = [
        ("_ratio", "Time relative to what each case is compared with (less is better)"),
        ("_speedup", "How many times faster than what each case is compared with (more is better)"),
    ]
    panels = [(title, bars_of(report, ending)) for ending, title in panels]
    height = TOP + sum(ROW * (len(bars) + 2) for _, bars in panels)
    picture = Picture("Benchmarks against what they are compared with", machine_of(report), height)
    y = TOP
    for title, bars in panels:
        picture.text(20, y + 18, title, 'font-weight="bold"')
        y += 1.5 * ROW
        widest = max((value for _, _, value in bars), default=1.0)
        for name, counter, value in bars:
            picture.text(NAMES, y + 14, f"{name}  {counter}", 'text-anchor="end"')
            picture.bar(NAMES + 10, y, value / widest * 225, 18, COLOURS[1])
            picture.text(NAMES + 16 + value / widest * 225, y + 14, f"{value:.2f}")
            y += ROW
    picture.write(path)


def bars_of(report, ending):
    """Name, counter and value of every counter whose name ends so."""
    return [
        (result["name"], counter, value)
        for result in report["benchmarks"]
        for counter, value in sorted(result.items())
        if counter.endswith(ending)
    ]


def draw_all(folder):
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise SystemExit(f"ci/bench: no results in {folder}; ci/bench --commit brings them there")
    for path in paths:
        report = json.loads(path.read_text())
        if path.stem.startswith("growth-"):
            draw_growth(report, path, path.stem.split("-")[1])
        elif path.stem in ("targets", "targets-portable"):
            draw_ratios(report, path.with_name(path.name.replace("targets", "ratios").replace(".json", ".svg")))
    return 0
