"""Sessions of an editor: a function typed from nothing, renames, broken states, undo, and characters of all widths.

  lsp_session.py SEED EDITS > session.json
"""
import json
import random
import re
import sys

HEADER = ["# RUN: ir-opt %s", "# 😀 ä", "from tvm.script import ir as I", "from tvm.script import relax as R",
          "from tvm.script import tir as T", "", "@I.ir_module", "class Module:"]
FUNCTION = '''    @R.function
    def {name}(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")) -> R.Tensor(("n", 8), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            # 😀 {name}
            a = R.add(x, x)  # ä😀
            b = {call}(a, w)
            c: R.Tensor((n, 8), "float32") = R.nn.relu(b)
            R.output(c)
        return c'''


def start(functions=2):
    lines = list(HEADER)
    for i in range(functions):
        lines += FUNCTION.format(name=f"f{i}", call="cls.f0" if i else "R.matmul").split("\n") + [""]
    return lines


class Editor:
    """A buffer of lines that records edits of its characters, in bytes as Neovim counts, with the lines after each."""

    def __init__(self, lines):
        self.lines = lines
        self.steps = []
        self.undone = []
        self.before = []  # the lines before each edit that can be undone

    def change(self, lines, **step):
        self.before.append(self.lines)
        self.undone = []
        self.record(lines, **step)

    def record(self, lines, **step):
        self.lines = lines
        self.steps.append({**step, "after": lines})

    def byte(self, line, column):
        return len(self.lines[line][:column].encode())

    def replace(self, line, column, end_line, end_column, text):
        changed = self.lines[line][:column] + text + self.lines[end_line][end_column:]
        self.change(self.lines[:line] + changed.split("\n") + self.lines[end_line + 1:], kind="text", line=line,
                    column=self.byte(line, column), end_line=end_line, end_column=self.byte(end_line, end_column),
                    text=text.split("\n"))

    def undo(self):
        if self.before:
            self.undone.append(self.lines)
            self.record(self.before.pop(), kind="undo")

    def redo(self):
        if self.undone:
            self.before.append(self.lines)
            self.record(self.undone.pop(), kind="redo")

    def rename(self, name, new_name, begin, end):
        """Renames what lines [begin, end), which must be those of its scope, call by a name outside of comments."""
        word = re.compile(rf"\b{name}\b")
        renamed = list(self.lines)
        places = []
        for i in range(begin, end):
            code, mark, comment = renamed[i].partition("#")
            places += [(i, match.start()) for match in word.finditer(code)]
            renamed[i] = word.sub(new_name, code) + mark + comment
        line, column = places[len(self.steps) % len(places)]
        self.change(renamed, kind="rename", line=line, column=self.byte(line, column), name=new_name)

    def type(self, line, column, text):
        for c in text:
            self.replace(line, column, line, column, c)
            if c == "\n":
                line, column = line + 1, 0
            else:
                column += 1

    def find(self, text):
        for i, line in enumerate(self.lines):
            if text in line:
                return i, line.index(text)
        raise ValueError(text)


def rename_everything(editor):
    """Renames a function, and the variables of another one, in a text without errors."""
    editor.rename("f0", "first", len(HEADER), len(editor.lines))
    begin, _ = editor.find("def f1")
    end = next(i for i in range(begin, len(editor.lines)) if editor.lines[i] in ("", "    @R.function"))
    for name in ("x", "w", "n", "a", "b", "c", "cls"):
        editor.rename(name, name + "_renamed", begin, end)
    for _ in range(5):
        editor.undo()
    for _ in range(3):
        editor.redo()


def record(seed, edits):
    """The lines of a buffer, and `edits` edits of it."""
    editor = Editor(start())
    lines = editor.lines
    chooser = random.Random(seed)
    # A function from nothing, character by character.
    editor.type(len(editor.lines) - 1, 0, FUNCTION.format(name="typed", call="cls.f1") + "\n")
    rename_everything(editor)
    while len(editor.steps) < edits:
        choice = chooser.random()
        line = chooser.randrange(len(editor.lines))
        text = editor.lines[line]
        column = chooser.randrange(len(text) + 1)
        if choice < 0.3:
            editor.replace(line, column, line, column, chooser.choice(["x", "(", ")", "😀", "ä", ",", "\n", " ", '"', "#", "R.", "=", "nn"]))
        elif choice < 0.5:
            editor.replace(line, column, line, min(len(text), column + chooser.randrange(4)), "")
        elif choice < 0.6 and line + 1 < len(editor.lines):
            editor.replace(line, len(text), line + 1, 0, "")  # join lines
        elif choice < 0.7:
            for _ in range(chooser.randrange(1, 4)):
                editor.undo()
            for _ in range(chooser.randrange(3)):
                editor.redo()
        elif choice < 0.75:
            fresh = start(3)
            editor.replace(0, 0, len(editor.lines) - 1, len(editor.lines[-1]), "\n".join(fresh))
            rename_everything(editor)
        else:
            editor.replace(line, column, line, column, chooser.choice(["R.add(x, x)", "n", "cls.f0", "# ä", "T.int64()", "x: "]))
    return lines, editor.steps[:edits]


if __name__ == "__main__":
    first, edits = record(int(sys.argv[1]), int(sys.argv[2]))
    json.dump({"lines": first, "steps": edits}, sys.stdout)
