"""Files that are made: one that has its text already is not written again, so that a change of a row compiles few sources."""
import os


def write_file(path, text):
    """Writes the file, unless it has this text."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def write(folder, files):
    """Writes the files, by names in the folder, and removes others from the folders that they are in."""
    known = set()
    for name, text in files:
        path = os.path.join(folder, name)
        known.add(path)
        write_file(path, text)
    for base in {os.path.dirname(path) for path in known}:
        for name in os.listdir(base):
            path = os.path.join(base, name)
            if path not in known and os.path.isfile(path):
                os.remove(path)


def source(included, space, body):
    """A source of a namespace."""
    includes = "".join(f"#include \"{name}\"\n" for name in included)
    return f"// Made by scripts/tables.\n{includes}\nnamespace {space} {{\n\n{body}\n}}  // namespace {space}\n"


def header(summary, included, space, body):
    """A header of a namespace."""
    includes = "".join(f"#include \"{name}\"\n" for name in included)
    return f"// {summary}\n#pragma once\n\n{includes}\nnamespace {space} {{\n\n{body}\n}}  // namespace {space}\n"
