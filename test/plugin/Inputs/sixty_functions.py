"""Prints a module of 60 functions with relus."""
print("@I.ir_module\nclass Module:")
for i in range(60):
    print(f"""    @R.function
    def f{i:02}(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")):
        with R.dataflow():
            product = R.matmul(x, w)
            positive = R.nn.relu(product)
            doubled = R.multiply(positive, R.const(2.0, "float32"))
            R.output(positive, doubled)
        return (positive, doubled)
""")
