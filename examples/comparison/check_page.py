#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0
"""Every case is linked from the page, every case that the page links is there, and the versions that
cases name stand in the page. Usage: check_page.py docs/comparison.md"""

import json
import re
import sys
from pathlib import Path

page = Path(sys.argv[1]).read_text()
cases = {path.stem: json.loads(path.read_text()) for path in Path(__file__).parent.glob("cases/*.json")}
linked = set(re.findall(r"examples/comparison/cases/(\w+)\.json", page))
wrong = sorted(linked ^ set(cases))
systems = {other["system"].split(",")[0] for case in cases.values() for other in case["others"]}
wrong += sorted(system for system in systems if system not in page)
if not cases or wrong:
    sys.exit(f"{sys.argv[1]} and the cases do not agree on: {', '.join(wrong)}")
print(f"{len(cases)} cases, {len(systems)} systems")
