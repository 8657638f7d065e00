#!/usr/bin/env python3
"""House rules that no compiler checks. `lint.py [ROOT]` prints each breach as FILE:LINE: words, and fails if there is one.

layers    Includes point down only: recipes -> client -> driver -> base, and drivers -> driver -> base
          (docs/architecture.md); the registry alone knows every driver. base may see of the public headers only
          those that know nothing of locks.
public    A public header includes the standard library and <holdfast/...> alone; asio.hpp also Boost.Asio.
co_await  g++ 12 destroys some temporaries of a co_await expression twice (docs/gcc12-coroutines.md): no
          lambda with captures and no braced temporary may stand in one. Name the value first. Where the type
          has a constructor of its own, or nothing to destroy, say so: `// co_await-ok: reason`.
"""

import re
import sys
from pathlib import Path

# What the files of a folder may include in quotes; a driver may include its own folder besides.
LAYERS = {
    "src/base": {"base"},
    "src/driver": {"base", "driver"},
    "src/drivers": {"base", "driver"},
    "src/client": {"base", "driver", "client"},
    "src/recipes": {"base", "client", "recipes"},
    "cli": {"base", "driver"},
}
REGISTRY = "src/driver/registry.cpp"
INNER = {"base", "driver", "drivers", "client", "recipes"}
BASE_MAY_SEE = {"clock.hpp", "error.hpp", "version.hpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def line_of(text, position):
    return text.count("\n", 0, position) + 1


def layers(path, text):
    folder = next((f for f in LAYERS if path.startswith(f + "/")), None)
    if not folder:
        return
    own = path.split("/")[2] if folder == "src/drivers" else None
    for match in INCLUDE.finditer(text):
        header = match[2].split("/")
        if header[0] == "holdfast":
            if folder == "src/base" and header[-1] not in BASE_MAY_SEE:
                yield line_of(text, match.start()), f"base must know nothing of locks, but includes <{match[2]}>"
        elif len(header) > 1 and header[0] in INNER and header[0] not in LAYERS[folder]:
            if header[0] != "drivers" or (header[1] != own and path != REGISTRY):
                yield line_of(text, match.start()), f'{folder} must not include "{match[2]}"'


def public(path, text):
    if not path.startswith("include/"):
        return
    for match in INCLUDE.finditer(text):
        header = match[2]
        standard = match[1] == "<" and re.fullmatch(r"[a-z_0-9]+", header)
        asio = path.endswith("/asio.hpp") and header.startswith("boost/asio")
        if not (standard or asio or (match[1] == "<" and header.startswith("holdfast/"))):
            yield line_of(text, match.start()), f"a public header must not include {header}"


TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<literal>R"(?P<d>[^(\s]*)\(.*?\)(?P=d)" | "(?:\\.|[^"\\\n])*" | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*')
      | (?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)
      | (?P<word>[A-Za-z_0-9]+)
      | (?P<mark>::|->|\[\[|\]\]|\S)""",
    re.X | re.S | re.M,
)
OPEN, CLOSE = {"(": ")", "[": "]", "{": "}", "[[": "]]"}, {")", "]", "}", "]]"}


def co_await(path, text):
    if "co_await" not in text:
        return
    tokens, lines, excused = [], [], set()
    for match in TOKEN.finditer(text):
        if match["comment"]:
            if "co_await-ok:" in match[0]:
                excused |= {line_of(text, match.start()), line_of(text, match.start()) + 1}
        elif not match["directive"]:
            tokens.append('""' if match["literal"] else match[0])
            lines.append(line_of(text, match.start()))

    partner, stack = {}, []
    for i, token in enumerate(tokens):
        if token in OPEN:
            stack.append(i)
        elif token in CLOSE and stack:
            if token == "]" and tokens[stack[-1]] == "[[":  # a[[..] is no attribute; we do not write it
                continue
            partner[stack[-1]] = i
            partner[i] = stack.pop()

    def is_block(brace):
        """A block holds statements; a braced initialiser holds none, and so no semicolon of its own."""
        i, end = brace + 1, partner.get(brace, len(tokens))
        while i < end:
            if tokens[i] == ";" or (tokens[i] in {"if", "for", "while", "switch"}):
                return True
            if tokens[i] == "{" and is_block(i):
                return True
            i = partner.get(i, i) + 1 if tokens[i] in OPEN else i + 1
        return end == brace + 1 and tokens[brace - 1] in {")", "mutable", "noexcept", "try", "else", "do"}

    def opens_statement(paren):
        return tokens[paren - 1] in {"if", "while", "switch", "for", "constexpr"}

    def bounds(i):
        """The first and last token of the full expression around token i."""
        start = i
        while start > 0:
            before = start - 1
            if tokens[before] in CLOSE and before in partner:
                if tokens[before] == "}" and is_block(partner[before]):
                    # The end of a lambda in the same expression, or of the statement before.
                    opener = partner[before]
                    if not after_lambda_head(opener):
                        break
                start = partner[before]
            elif tokens[before] == ";" or (tokens[before] == "{" and is_block(before)):
                break
            elif tokens[before] == "(" and opens_statement(before):
                break
            else:
                start = before
        end = i
        while end + 1 < len(tokens):
            after = end + 1
            if tokens[after] == ";":
                break
            if tokens[after] in OPEN and after in partner:
                end = partner[after]
            elif tokens[after] == ")" and opens_statement(partner.get(after, 0)):
                break
            elif tokens[after] == "}" and is_block(partner.get(after, 0)):
                break
            else:
                end = after
        return start, end

    def after_lambda_head(brace):
        i = brace - 1
        while i > 0 and tokens[i] not in {";", "{", "}", "(", ",", "="}:
            if tokens[i] == "]" and lambda_head(partner.get(i, 0)):
                return True
            i = partner.get(i, i) - 1 if tokens[i] in CLOSE else i - 1
        return False

    def lambda_head(bracket):
        before = tokens[bracket - 1] if bracket else ";"
        follows = tokens[partner.get(bracket, bracket) + 1 : partner.get(bracket, bracket) + 2]
        index = re.fullmatch(r"\w+", before) and before not in {"return", "co_return", "co_await", "co_yield"}
        return not (index or before in {")", "]", ">"}) and follows and follows[0] in {"(", "{", "<"}

    seen = set()
    for at, token in enumerate(tokens):
        if token != "co_await":
            continue
        start, end = bounds(at)
        i = start
        while i <= end:
            if tokens[i] == "[" and lambda_head(i) and partner.get(i, i) > i + 1 and i not in seen:
                seen.add(i)
                if lines[i] not in excused:
                    yield lines[i], "a lambda with captures in a co_await expression: name it first"
            if tokens[i] == "{":
                if is_block(i):
                    if not i < at < partner.get(i, i):
                        i = partner.get(i, i)  # another function's expressions
                elif i not in seen and not after_lambda_head(i):
                    seen.add(i)
                    if lines[i] not in excused:
                        yield lines[i], "a braced temporary in a co_await expression: name it first"
            i += 1


def breaches(path, text):
    for rule in (layers, public, co_await):
        for line, words in rule(path, text):
            yield f"{path}:{line}: {words} [{rule.__name__}]"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    found = []
    for folder in ("include", "src", "cli", "tests", "bench"):
        for file in sorted((root / folder).rglob("*.?pp")):
            found += breaches(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    print("\n".join(found) if found else "lint: no breach")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
