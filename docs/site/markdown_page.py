# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""A Markdown file: its headings, links and blocks of code."""

import posixpath
import re

FENCE = re.compile(r"^( *)```(\w*)\s*$")
HEADING = re.compile(r"^(#{1,6}) (.*?)\s*$")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def slug(heading):
    """The anchor that GitHub makes of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


class Page:
    def __init__(self, root, name):
        self.name = name
        self.lines = (root / name).read_text(encoding="utf-8").splitlines()
        self.blocks = []  # (line, language, text, line before)
        self.indented_blocks = []  # lines
        self.headings = []  # (line, level, text, anchor)
        self.links = []  # (line, text, target, is_image)
        self._parse()
        self.anchors = {anchor for _, _, _, anchor in self.headings}

    def _parse(self):
        seen = {}
        prose = []
        inside = None
        is_list = False
        for number, line in enumerate(self.lines, 1):
            fence = FENCE.match(line)
            if inside:
                if line.strip() == "```":
                    self.blocks.append((*inside[:2], "".join(inside[2]), inside[3]))
                    inside = None
                else:
                    inside[2].append(line.removeprefix(inside[4]) + "\n")
                prose.append("")
                continue
            if fence:
                before = self.lines[number - 2].strip() if number > 1 else ""
                inside = (number, fence[2], [], before, fence[1])
                prose.append("")
                continue
            heading = HEADING.match(line)
            if heading:
                anchor = slug(heading[2])
                count = seen[anchor] = seen.get(anchor, -1) + 1
                self.headings.append((number, len(heading[1]), heading[2], f"{anchor}-{count}" if count else anchor))
            if re.match(r"^\s*([-*]|\d+\.) ", line):
                is_list = True
            elif line and not line.startswith(" "):
                is_list = False
            if line.startswith("    ") and not is_list and (number == 1 or not self.lines[number - 2].strip()):
                self.indented_blocks.append(number)
            prose.append(CODE.sub(lambda code: " " * len(code[0]), line))
        # A link may be broken over lines.
        text = "\n".join(prose)
        plain = "\n".join(self.lines)
        for link in LINK.finditer(text):
            number = text.count("\n", 0, link.start()) + 1
            self.links.append((number, plain[link.start(2) : link.end(2)], link[3], bool(link[1])))

    def resolved(self, target):
        """A link's target as (path from the repository's root, anchor); None for what lies outside."""
        if re.match(r"[a-z]+:", target):
            return None
        path, _, anchor = target.partition("#")
        if not path:
            return self.name, anchor
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.name), path)), anchor

    def resolved_links(self):
        """(line, path, anchor) of every link within the repository."""
        found = ((line, self.resolved(target)) for line, _, target, _ in self.links)
        return [(line, *target) for line, target in found if target]
