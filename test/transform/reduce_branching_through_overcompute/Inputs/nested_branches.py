"""Writes a branch of which both cases are the same N branches in each other: nested_branches.py N"""
import sys


def nest(depth):
    lines = [" " * k + f"if m != {k}:" for k in range(depth)] + [" " * depth + "A[0] = 1"]
    return "".join(f"            {line}\n" for line in lines)


print("@I.ir_module\nclass Module:\n    @T.prim_func\n    def main(A: T.Buffer((4,), \"int32\"), m: T.int32, p: T.int32):\n"
      f"        if p < 4:\n{nest(int(sys.argv[1]))}        else:\n{nest(int(sys.argv[1]))}")
