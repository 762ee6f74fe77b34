"""Prints a module with a string that has a text 100,000 times: long_lines.py TEXT."""
import sys

print(f"""# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), dtype="float32")) -> R.Tensor((4,), dtype="float32"):
        R.func_attr({{"s": "{sys.argv[1] * 100000}"}})
        return x""")
