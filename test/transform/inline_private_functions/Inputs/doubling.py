"""Prints N private functions each of which calls the next one twice, and a main function that calls the first."""
import sys

count = int(sys.argv[1])
print("@I.ir_module\nclass Module:")
for i in range(count):
    name = "main" if i == 0 else f"f{i}"
    print("    @R.function" + ("" if i == 0 else "(private=True)"))
    print(f'    def {name}(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):')
    print("        cls = Module")
    callee = f"cls.f{i + 1}" if i + 1 < count else "R.exp"
    print(f"        y = {callee}(x)\n        z = {callee}(y)\n        return z\n")
