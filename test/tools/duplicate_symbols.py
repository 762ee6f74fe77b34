#!/usr/bin/env python3
"""Finds functions and variables that are defined twice: inline in one object and not inline in another, or not inline in
two. The linker takes one of them without a word, whatever the other one does.

  duplicate_symbols.py [--nm=NM] OBJECT-OR-ARCHIVE...
"""
import argparse
import collections
import re
import subprocess
import sys

# "libiropt_ir.a:type.cpp.o:0000000000000000 T _ZN5iropt8TypeHashEv"
LINE = re.compile(r"(?P<object>\S+?):\s*(?:[0-9a-f]+)?\s*(?P<kind>[A-Za-z]) (?P<name>\S+)$")
STRONG = set("TDBRGS")
WEAK = set("WVu")


def duplicates(text):
    """The names with their objects, of what `nm -A` prints."""
    strong, weak = collections.defaultdict(set), collections.defaultdict(set)
    for line in text.splitlines():
        match = LINE.match(line.replace(".a:", ".a/", 1))
        if match and match["kind"] in STRONG:
            strong[match["name"]].add(match["object"])
        elif match and match["kind"] in WEAK:
            weak[match["name"]].add(match["object"])
    for name in sorted(strong):
        objects = strong[name] | weak.get(name, set())
        if len(objects) > 1:
            yield name, sorted(objects)


def self_test():
    once = "a.a:x.o:0000 T f\na.a:y.o:0000 W g\nb.a:z.o:0000 W g\nb.a:z.o:              U f\n"
    assert not list(duplicates(once))
    assert list(duplicates(once + "b.a:z.o:0010 W f\n")) == [("f", ["a.a/x.o", "b.a/z.o"])]
    assert list(duplicates(once + "c.o:0010 T f\n")) == [("f", ["a.a/x.o", "c.o"])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nm", default="nm")
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    self_test()
    text = subprocess.run([options.nm, "-A", "--defined-only", "--extern-only", *options.files],
                          capture_output=True, text=True, check=True).stdout
    found = list(duplicates(text))
    for name, objects in found:
        print(f"{name} is defined in {' and in '.join(objects)}")
    symbols = len(text.splitlines())
    print(f"{len(found)} of {symbols} symbols are defined twice")
    return 1 if found or symbols == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
