#!/usr/bin/env python3
"""Draws docs/pictures/editor.svg: a Python program with TVMScript in Neovim, with what ir-lsp says about it.

  editor_picture.py [--bin build/bin] [--output docs/pictures/editor.svg]

Neovim runs in tmux, whose screen is drawn. Needs both.
"""
import argparse
import html
import os
import re
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COLUMNS, LINES = 104, 28
CELL_WIDTH, CELL_HEIGHT = 8.4, 18
FOREGROUND, BACKGROUND = "#d8dee9", "#1e2430"
BASIC = ["#3b4252", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9"]
PROGRAM = '''import sys
from tvm.script import ir as I, relax as rx

HIDDEN = 64


@I.ir_module
class Encoder:
    @rx.function
    def main(x: rx.Tensor(("n", 128), "float32"), w: rx.Tensor((128, HIDDEN), "float32")):
        y = rx.nn.rleu(x)
        z = rx.matmul(x, w)
        return z


print(Encoder, sys.argv)
'''
CONFIGURATION = '''
vim.opt.runtimepath:prepend("{root}/editors/nvim")
vim.opt.swapfile, vim.opt.number, vim.opt.laststatus, vim.opt.termguicolors = false, true, 0, false
vim.cmd("highlight NormalFloat ctermfg=252 ctermbg=238")
vim.diagnostic.config({{ virtual_text = true, signs = false }})
require("ir_lsp").setup({{ cmd = {{ "{server}" }} }})
'''


def tmux(socket, *arguments):
    return subprocess.run(["tmux", "-S", socket, *arguments], check=True, capture_output=True, text=True).stdout


def screen(bin_dir):
    """The screen with its escape sequences, when the hover of a variable is shown."""
    with tempfile.TemporaryDirectory() as folder:
        program, init, socket = (os.path.join(folder, name) for name in ("encoder.py", "init.lua", "tmux"))
        with open(program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        with open(init, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(root=ROOT, server=os.path.join(os.path.abspath(bin_dir), "ir-lsp")))
        tmux(socket, "-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(LINES),
             "env", "TERM=screen-256color", "nvim", "-u", init, program)
        try:
            wait_for(socket, "did you mean")
            tmux(socket, "send-keys", "/matmul", "Enter", ":nohlsearch", "Enter", ":lua vim.lsp.buf.hover()", "Enter")
            wait_for(socket, "the matrix product")
            return tmux(socket, "capture-pane", "-p", "-e", "-N")
        finally:
            tmux(socket, "kill-server")


def wait_for(socket, text):
    for _ in range(100):
        if text in tmux(socket, "capture-pane", "-p"):
            time.sleep(0.3)
            return
        time.sleep(0.1)
    raise SystemExit(f"Neovim does not show {text!r}:\n{tmux(socket, 'capture-pane', '-p')}")


def color_of(number):
    if number < 16:
        return BASIC[number % 8]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#" + "".join(f"{levels[number // step % 6]:02x}" for step in (36, 6, 1))


class Style:
    """The colors that escape sequences choose."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.foreground, self.background, self.is_reverse, self.is_bold = None, None, False, False

    def apply(self, sequence):
        codes = [int(code) for code in sequence.split(";") if code] or [0]
        while codes:
            code = codes.pop(0)
            if code in (38, 48):
                kind = codes.pop(0)
                value = color_of(codes.pop(0)) if kind == 5 else "#" + "".join(f"{codes.pop(0):02x}" for _ in range(3))
                setattr(self, "foreground" if code == 38 else "background", value)
            elif code in (7, 27):
                self.is_reverse = code == 7
            elif code in (1, 22):
                self.is_bold = code == 1
            elif code == 0:
                self.reset()
            elif code in (39, 49):
                setattr(self, "foreground" if code == 39 else "background", None)
            elif 30 <= code < 38 or 90 <= code < 98:
                self.foreground = color_of(code % 10)
            elif 40 <= code < 48 or 100 <= code < 108:
                self.background = color_of(code % 10)

    def colors(self):
        pair = (self.foreground or FOREGROUND, self.background)
        return (self.background or BACKGROUND, self.foreground or FOREGROUND) if self.is_reverse else pair


def draw(text):
    width, height = COLUMNS * CELL_WIDTH + 24, LINES * CELL_HEIGHT + 24
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
           f'font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14">',
           f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>']
    style = Style()
    for row, line in enumerate(text.split("\n")[:LINES]):
        column = 0
        for part in re.split(r"(\x1b\[[0-9;]*m)", line):
            if part.startswith("\x1b["):
                style.apply(part[2:-1])
                continue
            if not part:
                continue
            foreground, background = style.colors()
            x, y = 12 + column * CELL_WIDTH, 12 + row * CELL_HEIGHT
            if background:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{len(part) * CELL_WIDTH:.1f}" height="{CELL_HEIGHT}" fill="{background}"/>')
            if part.strip():
                weight = ' font-weight="bold"' if style.is_bold else ""
                out.append(f'<text x="{x:.1f}" y="{y + 14}" fill="{foreground}"{weight} xml:space="preserve" '
                           f'textLength="{len(part) * CELL_WIDTH:.1f}">{html.escape(part)}</text>')
            column += len(part)
    return "\n".join([*out, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="the folder of the tools")
    parser.add_argument("--output", default=os.path.join(ROOT, "docs", "pictures", "editor.svg"))
    options = parser.parse_args()
    picture = draw(screen(options.bin))
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(picture)


if __name__ == "__main__":
    main()
