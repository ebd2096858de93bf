#!/usr/bin/env python3
"""Writes the library as one header: single_include.py [--check] INCLUDE_DIR OUTPUT.

Each header is expanded once, where it is first mentioned. This is right because the library never
includes a header of its own under a condition, with one exception: tilewright.hpp includes the
declarations under its guard, and after them impl/src.hpp, under the #if of the files that implement.
Both have guards of their own in place of #pragma once, so that one file may include the result twice:
for the declarations, and later to implement. How to use the result stands at the head of
tilewright.hpp, which becomes its head.
"""
import argparse
import pathlib
import re
import sys

OWN = re.compile(r"#include <(tilewright/[^>]+)>")


def expand(root, name, seen, out):
    if name in seen:
        return
    seen.add(name)
    for line in (root / name).read_text().splitlines():
        own = OWN.match(line)
        if own:
            expand(root, own.group(1), seen, out)
        elif line.strip() != "#pragma once":
            out.append(line)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments.add_argument("include_dir", type=pathlib.Path)
    arguments.add_argument("output", type=pathlib.Path)
    options = arguments.parse_args()
    out = ["// Generated from include/ by tools/single_include.py; do not edit.", "//"]
    expand(options.include_dir, "tilewright/tilewright.hpp", set(), out)
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(out)) + "\n"
    if options.check:
        if not options.output.exists() or options.output.read_text() != text:
            sys.exit(f"{options.output} is stale; run: cmake --build build --target tilewright_single_include")
        return
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text)


if __name__ == "__main__":
    main()
