#!/usr/bin/env python3
"""tidy.py BUILD_DIR [FILE …]: clang-tidy on the given files, or on all. A header is looked at through the unit that
compiles it alone (HOLDFAST_CHECK_HEADERS). What was clean is not looked at again until its preprocessed text changes."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

root, build = Path.cwd(), Path(sys.argv[1]).resolve()
wanted = {root / f for f in sys.argv[2:]} | {build / "headers" / f"{f}.cpp" for f in sys.argv[2:]}
seen = build / "tidy"
seen.mkdir(exist_ok=True)


def plain(command):
    """The compiler's command without ccache and precompiled headers, which need not have been built."""
    words = shlex.split(command)
    words = words[next(i for i, word in enumerate(words) if "clang++" in word) :]
    while "-include-pch" in words:  # -Xclang -include-pch -Xclang FILE -Xclang -include -Xclang FILE
        at = words.index("-include-pch") - 1
        del words[at : at + 8]
    return [word for word in words if word != "-Winvalid-pch"]


def fingerprint(unit):
    command = unit["arguments"]
    command = command[: command.index("-o")] + ["-E", "-C", "-o", "-", unit["file"]]  # -C: NOLINT is a comment
    text = subprocess.run(command, cwd=unit["directory"], check=True, capture_output=True).stdout
    return hashlib.sha256(text + (root / ".clang-tidy").read_bytes()).hexdigest()


def tidy(unit):
    stamp = seen / fingerprint(unit)
    if stamp.exists():
        return ""
    run = subprocess.run(["clang-tidy-19", "-p", str(seen), "--quiet", unit["file"]], capture_output=True, text=True)
    if run.returncode == 0:
        stamp.touch()
        return ""
    return run.stdout + ("" if run.stdout else run.stderr)


def main():
    units = json.loads((build / "compile_commands.json").read_text())
    units = [unit for unit in units if not unit["file"].endswith((".hxx", ".cxx"))]
    for unit in units:
        unit["arguments"] = plain(unit.pop("command"))
    (seen / "compile_commands.json").write_text(json.dumps(units))
    if len(sys.argv) > 2:
        units = [unit for unit in units if Path(unit["file"]) in wanted]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(tidy, units) if text]
    print("\n".join(complaints) if complaints else f"clang-tidy: {len(units)} units are clean")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
