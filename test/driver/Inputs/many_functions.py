"""Prints a module of so many functions."""
import sys

print("@I.ir_module\nclass Module:")
for i in range(int(sys.argv[1])):
    print(f"    @T.prim_func\n    def f{i}(A: T.Buffer((4,), \"float32\")):")
    print(f"        A[0] = T.float32({i}) + T.float32(1)")
