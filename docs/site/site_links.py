# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""The links of a folder of HTML pages."""

from html.parser import HTMLParser
from urllib.parse import unquote


class _Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links = []
        self.anchors = set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src", "data") and value and not (tag == "link" and "://" in value):
                self.links.append(value)


def broken_links(site):
    """A line for each link to a file or an anchor that is not there."""
    readers = {}
    for file in sorted(site.rglob("*.html")):
        readers[file.resolve()] = reader = _Reader()
        reader.feed(file.read_text(encoding="utf-8"))
    found = set()
    for file, reader in readers.items():
        for link in reader.links:
            if ":" in link.partition("/")[0]:
                continue  # http:, mailto:, javascript:
            path, _, anchor = link.partition("#")
            if anchor == "nested-classes":
                continue  # Doxygen 1.9.4 links to it where all nested classes are private, too
            target = (file.parent / unquote(path)).resolve() if path else file
            if not target.is_file():
                found.add(f"{file.name}: there is no {link}")
            elif anchor and target in readers and unquote(anchor) not in readers[target].anchors:
                found.add(f"{file.name}: there is no anchor {link}")
    if not readers:
        found.add(f"{site}: no pages")
    return sorted(found)
