"""Prints a function in which each of N variables is a tuple of the one before it, twice."""
import sys

count = int(sys.argv[1])
print("@R.function")
print('def main(x: R.Tensor(("n",), "float32")):')
print("    n = T.int64()")
for i in range(count):
    before = f"t{i - 1}" if i else "x"
    print(f"    t{i} = ({before}, {before})")
print("    return x")
