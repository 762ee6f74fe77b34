#!/usr/bin/env python3
"""Writes modules to try the example with: make_modules.py FOLDER NUMBER [LAYERS]

Each is a chain of dense layers of its own sizes.
"""
import pathlib
import sys


def module(number, layers):
    size = 16 + number
    params = "".join(f', w{i}: R.Tensor(({size}, {size}), "float32")' for i in range(layers))
    lines = ["@I.ir_module", "class Module:", "    @R.function",
             f'    def main(x: R.Tensor((8, {size}), "float32"){params}):', "        with R.dataflow():"]
    value = "x"
    for i in range(layers):
        lines += [f"            h{i} = R.matmul({value}, R.add(w{i}, R.const(0.0, \"float32\")))",
                  f"            r{i} = R.nn.relu(R.add(R.multiply(h{i}, R.const(1.0, \"float32\")), h{i}))"]
        value = f"r{i}"
    lines += [f"            y = R.nn.softmax({value})", "            R.output(y)", "        return y", ""]
    return "\n".join(lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    number = int(sys.argv[2])
    layers = int(sys.argv[3]) if len(sys.argv) > 3 else 8
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(number):
        (folder / f"m{i:04}.ir").write_text(module(i, layers))


if __name__ == "__main__":
    main()
