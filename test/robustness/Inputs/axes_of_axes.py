"""Prints a function with two nests of N blocks each, in which the axes of each block use both axes of the one around it."""
import sys

depth = int(sys.argv[1])
print('@T.prim_func')
print('def main(A: T.Buffer((64,), "int32"), C: T.Buffer((64,), "int32")):')
print('    B = T.alloc_buffer((64,), "int32")')
print("    for i, j in T.grid(8, 8):")
for name, store in (("b", "B[x % 64] = A[y % 64]"), ("c", "C[y % 64] = C[y % 64] + B[x % 64]")):
    x, y = "i", "j"
    for k in range(depth):
        indent = "    " * (k + 2)
        print(f'{indent}with T.block("{name}{k}"):')
        print(f"{indent}    x{k} = T.axis.spatial(1000000, {x} + {y})")
        print(f"{indent}    y{k} = T.axis.spatial(1000000, {x} * 2 + {y})")
        x, y = f"x{k}", f"y{k}"
    for old, new in (("x", x), ("y", y)):
        store = store.replace(f"{old} %", f"{new} %")
    print("    " * (depth + 2) + store)
