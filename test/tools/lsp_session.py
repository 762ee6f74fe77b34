"""Sessions of an editor: a function typed from nothing, broken states, undo, and characters of all widths.

  lsp_session.py SEED EDITS > session.json
"""
import json
import random
import sys

HEADER = ["# RUN: ir-opt %s", "# 😀 ä", "from tvm.script import ir as I", "from tvm.script import relax as R",
          "from tvm.script import tir as T", "", "@I.ir_module", "class Module:"]
FUNCTION = '''    @R.function
    def {name}(x: R.Tensor(("n", 8), "float32"), w: R.Tensor((8, 8), "float32")) -> R.Tensor(("n", 8), "float32"):
        n = T.int64()
        with R.dataflow():
            # 😀 {name}
            a = R.add(x, x)  # ä😀
            b = R.matmul(a, w)
            c: R.Tensor((n, 8), "float32") = R.nn.relu(b)
            R.output(c)
        return c'''


def start(functions=2):
    lines = list(HEADER)
    for i in range(functions):
        lines += FUNCTION.format(name=f"f{i}").split("\n") + [""]
    return lines


class Editor:
    """A buffer of lines that records edits of its characters, in bytes as Neovim counts."""

    def __init__(self, lines):
        self.lines = lines
        self.steps = []

    def replace(self, line, column, end_line, end_column, text):
        byte = lambda at, c: len(self.lines[at][:c].encode())
        self.steps.append({"kind": "text", "line": line, "column": byte(line, column), "end_line": end_line,
                           "end_column": byte(end_line, end_column), "text": text.split("\n")})
        changed = self.lines[line][:column] + text + self.lines[end_line][end_column:]
        self.lines[line:end_line + 1] = changed.split("\n")

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


def record(seed, edits):
    """The lines of a buffer, and `edits` edits of it."""
    editor = Editor(start())
    lines = list(editor.lines)
    chooser = random.Random(seed)
    # A function from nothing, character by character.
    editor.type(len(editor.lines) - 1, 0, FUNCTION.format(name="typed") + "\n")
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
            # An edit and its undoing.
            editor.replace(line, column, line, column, "zz")
            editor.replace(line, column, line, column + 2, "")
        elif choice < 0.75:
            fresh = start(3)
            editor.replace(0, 0, len(editor.lines) - 1, len(editor.lines[-1]), "\n".join(fresh))
        else:
            editor.replace(line, column, line, column, chooser.choice(["R.add(x, x)", "n", "cls.f0", "# ä", "T.int64()", "x: "]))
    return lines, editor.steps[:edits]


if __name__ == "__main__":
    first, edits = record(int(sys.argv[1]), int(sys.argv[2]))
    json.dump({"lines": first, "steps": edits}, sys.stdout)
