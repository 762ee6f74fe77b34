"""Prints a Relay text of great depth: deep.py KIND N."""
import sys

kind, n = sys.argv[1], int(sys.argv[2])
head = "def @main(%c: bool, %x: Tensor[(2), float32]) {"
if kind == "chain":
    print(head, "%0 = add(%x, %x);")
    for i in range(1, n):
        print(f"%{i} = add(%{i - 1}, %{i - 1});")
    print(f"nn.relu(%{n - 1}) }}")
elif kind == "lets":
    print(head, "let %a0 = exp(%x);")
    for i in range(1, n):
        print(f"let %a{i} = %a{i - 1};")
    print(f"%a{n - 1} }}")
elif kind == "calls":
    print(head, "exp(" * n + "%x" + ")" * n, "}")
elif kind == "conditionals":
    print(head, "if (%c) { exp(%x) } else { " * n + "%x" + " }" * n, "}")
elif kind == "tuples":
    print(head, "%0 = (%x, %x);")
    for i in range(1, n):
        print(f"%{i} = (%{i - 1}, %{i - 1});")
    print(f"%{n - 1} }}")
elif kind in ("copied_pairs", "copied_nests"):
    fields = "(%{0}, %{0});" if kind == "copied_pairs" else "(%{0},);"
    print(head, "%0 = (%x, %x);")
    for i in range(1, n):
        print(f"%{i} =", fields.format(i - 1))
    print(f"let %a = copy(%{n - 1}); %x }}")
elif kind == "parentheses":
    print(head, "(" * n + "%x" + ")" * n, "}")
elif kind == "types":
    print("def @main(%x: " + "(" * n + "float32" + ",)" * n + ") { %x }")
