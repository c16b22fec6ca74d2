#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of the pages into this folder: pipeline.svg, chunk.svg, draft_tree.svg."""

from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent
INK, SOFT, FILL, STRONG = "#24292f", "#57606a", "#eef3fb", "#cfe0f7"


class Picture:
    def __init__(self, width, height):
        self.size = width, height
        self.parts = []

    def text(self, x, y, words, size=13, color=INK, anchor="middle", family="sans-serif"):
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{anchor}" '
            f'font-family="{family}">{escape(words)}</text>'
        )

    def box(self, x, y, width, height, words="", under="", fill=FILL):
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="5" fill="{fill}" stroke="{SOFT}"/>'
        )
        middle = y + height / 2 + (5 if not under else -3)
        self.text(x + width / 2, middle, words)
        if under:
            self.text(x + width / 2, y + height / 2 + 14, under, 11, SOFT)

    def line(self, x1, y1, x2, y2, arrow=True):
        tip = ' marker-end="url(#tip)"' if arrow else ""
        self.parts.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{SOFT}"{tip}/>')

    def write(self, name):
        width, height = self.size
        tip = (
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
            f'orient="auto"><path d="M0 0L8 4L0 8z" fill="{SOFT}"/></marker></defs>'
        )
        size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>'
        ground = f'<rect width="{width}" height="{height}" fill="white"/>'
        (HERE / name).write_text("\n".join([head, tip, ground, *self.parts, "</svg>", ""]), encoding="utf-8")


def pipeline():
    drawn = Picture(860, 210)
    drawn.box(10, 20, 150, 50, "requests", "configs, histories, masks")
    drawn.box(10, 130, 150, 50, "logits", "[n, V], the model's")
    drawn.box(220, 130, 120, 50, "edit", "biases, penalties", STRONG)
    drawn.box(400, 130, 140, 50, "measure", "mask, T; one read", STRONG)
    for y, words, under, result in (
        (20, "normalize", "scale each chunk", "probabilities"),
        (85, "draw", "one chunk again", "a token per row"),
        (150, "verify", "walk a draft tree", "accepted + bonus"),
    ):
        drawn.box(600, y, 120, 46, words, under, STRONG)
        drawn.line(540, 155, 598, y + 23)
        drawn.line(720, y + 23, 742, y + 23)
        drawn.text(746, y + 28, result, 12, INK, "start")
    drawn.line(160, 155, 218, 155)
    drawn.line(340, 155, 398, 155)
    drawn.line(160, 45, 278, 128)
    drawn.text(240, 60, "prepare: one upload, while the model computes", 12, SOFT, "start")
    drawn.text(280, 200, "in place", 11, SOFT)
    drawn.text(470, 200, "12 bytes per 4096 logits", 11, SOFT)
    drawn.write("pipeline.svg")


def chunk():
    drawn = Picture(760, 250)
    drawn.text(10, 20, "a row of V logits", 13, INK, "start")
    for i in range(5):
        width, words = (140, "4096 logits") if i < 4 else (100, "the rest")
        drawn.box(10 + 148 * i, 30, width, 40, words, "", STRONG if i == 1 else FILL)
    for i, words in enumerate(("m₀, S₀", "m₁, S₁", "m₂, S₂", "m₃, S₃", "m₄, S₄")):
        x = 10 + 148 * i + (70 if i < 4 else 50)
        drawn.line(x, 70, x, 98)
        drawn.box(x - 45, 100, 90, 30, words, "", STRONG if i == 1 else FILL)
        drawn.line(x, 130, 375, 178)
    drawn.box(215, 180, 320, 30, "M = max m,   S = Σ round(S · exp((m − M) / T))")
    said = "m: the largest allowed logit.  S: Σ round(exp((x − m) / T) · 2⁴⁴), an integer: any order, the same bits"
    drawn.text(375, 235, said, 12, SOFT)
    drawn.write("chunk.svg")


def draft_tree():
    drawn = Picture(720, 250)
    nodes = {  # name: (x, y, token, node of the batch)
        "root": (140, 20, "7", "root"),
        "a": (70, 100, "3", "node 0"),
        "b": (210, 100, "6", "node 2"),
        "c": (70, 180, "5", "node 1"),
    }
    for start, end in (("root", "a"), ("root", "b"), ("a", "c")):
        drawn.line(nodes[start][0], nodes[start][1] + 46, nodes[end][0], nodes[end][1] - 2)
    for x, y, token, name in nodes.values():
        drawn.box(x - 50, y, 100, 46, f"token {token}", name, STRONG if name == "root" else FILL)
    drawn.text(330, 25, "row of the logits: what comes after it, and who decides", 13, INK, "start")
    rows = (
        "0: the root.  accepts 3 or 6, or draws another token",
        "1: after 3 (node 0).  accepts 5, or draws",
        "2: after 3 5 (node 1).  the bonus token, if 5 was accepted",
        "3: after 6 (node 2).  the bonus token, if 6 was accepted",
    )
    for i, words in enumerate(rows):
        drawn.box(330, 40 + 44 * i, 380, 34, words)
    drawn.text(330, 235, "Penalties and mask of a row follow the path to its node.", 11, SOFT, "start")
    drawn.write("draft_tree.svg")


pipeline()
chunk()
draft_tree()
