#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the Markdown pages as Doxygen takes them: headings with anchors of their own, links to pages as
references, everything else that is linked beside the HTML.

  stage_pages.py PAGES HTML     PAGES: folder for the pages; HTML: folder of the site, for linked files
"""

import html
import os
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from markdown_page import CODE, LINK, Page  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
# The pages of the site and the order of their tree; pages of docs/ that are not named follow.
FRONT = "docs/index.md"
SECTIONS = ("docs/decisions/README.md",)
LANGUAGES = {"cpp": "{.cpp}", "c": "{.c}", "cmake": "{.cmake}", "sh": "{.sh}", "python": "{.py}", "json": "{.json}"}


def site_pages():
    top = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"]
    return top + sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))


def identifier(name):
    """Doxygen's name of a page."""
    if name == FRONT:
        return "index"
    stem = name.removeprefix("docs/").removesuffix(".md").replace("README", "index" if "/" in name else "readme")
    return "page_" + re.sub(r"\W", "_", stem).lower()


class Stager:
    def __init__(self, pages, site):
        self.site = site
        self.pages = {name: Page(ROOT, name) for name in pages}
        self.children = set()

    def link(self, page, match):
        is_image, text, target = match[1], match[2], match[3]
        resolved = page.resolved(target)
        if resolved is None:
            return match[0]
        name, anchor = resolved
        if name in self.pages:
            if not anchor and page.name in (FRONT, *SECTIONS) and name not in self.children | {FRONT}:
                self.children.add(name)
                title = re.sub(r'[`"]', "", text)
                return f'@subpage {identifier(name)} "{title}"'
            place = f"{identifier(name)}.html" + (f"#{self.anchor(name, anchor)}" if anchor else "")
        else:
            place = self.copied(name)
        if is_image:
            return f'<img src="{place}" alt="{html.escape(text)}"/>'
        text = re.sub(r"`([^`]*)`", lambda code: f"<code>{html.escape(code[1])}</code>", text.replace("\n", " "))
        return f'<a href="{place}">{text}</a>'

    def anchor(self, name, anchor):
        return f"{identifier(name)}_{anchor}"

    def copied(self, name):
        """Where a file that is no page lies in the site; sources as text, so that they can be looked at."""
        source = ROOT / name
        if source.is_dir():
            place = f"files/{name}/index.html"
            listed = "".join(f"<li>{file.name}</li>" for file in sorted(source.iterdir()) if file.name[0] != ".")
            self.write(place, f"<!DOCTYPE html><title>{name}</title><h1>{name}</h1><ul>{listed}</ul>\n")
            return place
        place = f"files/{name}" + ("" if source.suffix in (".svg", ".png") else ".txt")
        (self.site / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, self.site / place)
        return place

    def write(self, place, text):
        (self.site / place).parent.mkdir(parents=True, exist_ok=True)
        (self.site / place).write_text(text, encoding="utf-8")

    def staged(self, page):
        headings = {line: (level, text, anchor) for line, level, text, anchor in page.headings}
        in_block = False
        parts, prose = [], []
        for number, line in enumerate(page.lines, 1):
            if line.lstrip().startswith("```"):
                in_block = not in_block
                indent, _, name = line.partition("```")
                language = LANGUAGES.get(name, "{.txt}") if in_block else ""
                prose, parts = [], [*parts, self.linked(page, prose), f"{indent}```{language}"]
            elif in_block:
                parts.append(line)
            elif number in headings:
                level, text, anchor = headings[number]
                name = identifier(page.name) if level == 1 else self.anchor(page.name, anchor)
                name = "mainpage" if name == "index" else name
                text = re.sub(r"\[([^\]]*)\]", r"\1", text).replace("`", "") if level == 1 else text
                prose.append(f"{'#' * level} {text} {{#{name}}}")
            elif not line.lstrip().startswith("<!--"):
                prose.append(line)
        return "\n".join([*parts, self.linked(page, prose)]) + "\n"

    def linked(self, page, lines):
        """Lines outside of blocks with their links for Doxygen; what stands in back quotes stays."""
        text = "\n".join(lines)
        hidden = CODE.sub(lambda code: "\0" * len(code[0]), text)
        result, end = [], 0
        for match in LINK.finditer(hidden):
            whole = LINK.match(text, match.start())
            result += [text[end : match.start()], self.link(page, whole or match)]
            end = match.end()
        return "".join([*result, text[end:]])


def main():
    pages, site = Path(sys.argv[1]), Path(sys.argv[2])
    for folder in (pages, site):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    stager = Stager(site_pages(), site)
    for name in (FRONT, *SECTIONS, *(name for name in stager.pages if name not in (FRONT, *SECTIONS))):
        staged = stager.staged(stager.pages[name])
        (pages / f"{identifier(name)}.md").write_text(staged, encoding="utf-8")
    print(f"docs: {len(stager.pages)} pages of {os.path.basename(ROOT)} staged")


if __name__ == "__main__":
    main()
