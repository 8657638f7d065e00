#!/usr/bin/env python3
"""Keeps the docs' C++ examples equal to code that is compiled and run.

`<!-- snippet: tests/docs/FILE.cpp#NAME -->` on the line before a ```cpp block of README.md or docs/*.md ties that
block to the lines between `// [NAME]` and `// [/NAME]` in FILE. `snippets.py [ROOT]` checks, `--fix` rewrites.
"""

import re
import sys
import textwrap
from pathlib import Path

BLOCK = re.compile(r"(<!-- snippet: (\S+?)#(\S+) -->\n+```cpp\n)(.*?)(^```$)", re.S | re.M)
MARKER = re.compile(r"<!-- snippet:")


def region(root, file, name):
    path = root / file
    if not path.is_file():
        raise LookupError(f"there is no {file}")
    found = re.search(rf"^[ \t]*// \[{re.escape(name)}\]\n(.*?)^[ \t]*// \[/{re.escape(name)}\]$", path.read_text(), re.S | re.M)
    if not found:
        raise LookupError(f"{file} has no region // [{name}] … // [/{name}]")
    return textwrap.dedent(found[1]).strip("\n") + "\n"


def main():
    fix = "--fix" in sys.argv
    root = Path(next((a for a in sys.argv[1:] if not a.startswith("--")), ".")).resolve()
    wrong, count = [], 0
    for page in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        if not page.is_file():
            continue
        text, edits = page.read_text(), []
        where = lambda at: f"{page.relative_to(root)}:{text.count(chr(10), 0, at) + 1}"
        tied = {m.start(): m for m in BLOCK.finditer(text)}
        for marker in MARKER.finditer(text):
            count += 1
            block = tied.get(marker.start())
            try:
                if not block:
                    raise LookupError("no ```cpp block follows this snippet comment")
                code = region(root, block[2], block[3])
                if block[4] != code:
                    edits.append((block.span(4), code))
                    if not fix:
                        raise LookupError(f"differs from {block[2]}#{block[3]}; `./dev docs` takes the code over")
            except LookupError as error:
                wrong.append(f"{where(marker.start())}: {error}")
        if fix and edits:
            for (start, end), code in reversed(edits):
                text = text[:start] + code + text[end:]
            page.write_text(text)
            print(f"{page.relative_to(root)}: {len(edits)} updated")
    print("\n".join(wrong) if wrong else f"snippets: {count} blocks equal their code")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
