#!/usr/bin/env python3
"""Writes the store table of README.md anew from what the stores say of themselves (`holdfast info --json`).

store-table.py [--check] [HOLDFAST]: HOLDFAST is the program to ask (build/release/bin/holdfast). `./dev docs` runs it.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

BEGIN, END = "<!-- store-table -->\n", "<!-- /store-table -->"
# How to open one of each kind without preparing anything, and what to show for it.
OPEN = {
    "memory": ("memory:docs", "`memory:NAME`"),
    "sqlite": ("sqlite://{folder}/locks.db", "`sqlite:///path/locks.db`"),
}


def ask(program, *arguments):
    done = subprocess.run([program, *arguments, "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def length(milliseconds):
    return f"{milliseconds // 1000} s" if milliseconds % 1000 == 0 else f"{milliseconds} ms"


def row(url, can):
    modes = [word for word in ("exclusive", "shared", "permits") if can[word]]
    modes += ["several names"] if can["several_names"] else []
    survives = {
        "survives_client_crash": "a client's crash",
        "survives_server_restart": "a restart",
        "survives_failover": "a fail-over",
        "survives_partition": "a partition",
    }
    return [
        url,
        can["exclusion"],
        ", ".join(modes),
        "an event" if can["wake_up"] == "event" else f"polling, each {length(can['wake_up_bound_ms'])}",
        {"fifo": "first come, first served"}.get(can["fairness"], can["fairness"]),
        can["expiry_clock"],
        ", ".join(words for key, words in survives.items() if can[key]) or "nothing",
    ]


def table(program):
    rows = [["Store", "Exclusion", "Modes", "Waiters are woken by", "Order of waiters", "Expiry is decided by", "Survives"]]
    rows.append(["---"] * len(rows[0]))
    with tempfile.TemporaryDirectory() as folder:
        for scheme in ask(program, "version")["stores"]:
            if scheme in OPEN:
                url, shown = OPEN[scheme]
                rows.append(row(shown, ask(program, "info", url.format(folder=folder))))
    return "".join("| " + " | ".join(cells) + " |\n" for cells in rows)


def main():
    root = Path(__file__).resolve().parent.parent
    arguments = [a for a in sys.argv[1:] if a != "--check"]
    program = Path(arguments[0]) if arguments else root / "build/release/bin/holdfast"
    if not program.is_file():
        print(f"store table: left as it is, since there is no {program} to ask (./dev build makes it)")
        return 0
    page = root / "README.md"
    text = page.read_text()
    before, rest = text.split(BEGIN)
    fresh = before + BEGIN + table(program) + END + rest.split(END, 1)[1]
    if fresh == text:
        print("store table: up to date")
        return 0
    if "--check" in sys.argv:
        print("README.md: the store table differs from `holdfast info`; run ./dev docs")
        return 1
    page.write_text(fresh)
    print("README.md: store table updated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
