#!/usr/bin/env python3
"""What the Python package costs, compared with the command line and Python itself.

  PYTHONPATH=build/python python3 bench/python.py [--ir-opt build/bin/ir-opt] [--model FILE ...] [--runs 7] [MEASURE...]

The measures: import, pass (a pass of Python that does nothing, over 1,000 functions), pipeline (read, default<O3> and print of a
model, compared with ir-opt; by default a generated one of 20,000 operators), llama (export, default<O3> and print of a decoder of 32
layers, compared with ir-opt on what was exported), visitor (over 105,000 nodes, compared with one over Python's ast), memory (10,000 modules in a loop), threads (two with contexts of their own). Each prints the least processor time of the runs and
its limit; exits with 1 if one is over it.
"""
import argparse
import ast
import gc
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def least(runs, work, clock=time.process_time):
    """The least seconds of processor time of the runs of a function."""
    best = float("inf")
    for _ in range(runs):
        gc.collect()
        start = clock()
        work()
        best = min(best, clock() - start)
    return best


def measure_import(options):
    code = "import time; t = time.process_time(); import iropt; print(time.process_time() - t)"
    seconds = min(float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
                  for _ in range(options.runs))
    return seconds, 0.1, "s to import the package"


def many_functions(count):
    import iropt

    parts = ["@I.ir_module", "class Module:"]
    for i in range(count):
        parts += ["    @R.function", f"    def f{i}(x: R.Tensor((4,), 'float32')) -> R.Tensor((4,), 'float32'):",
                  "        y = R.nn.relu(x)", "        return y"]
    return iropt.from_source("\n".join(parts) + "\n")


def measure_pass(options):
    from iropt import transform

    @transform.function_pass(opt_level=0)
    def nothing(func, mod, ctx):
        return func

    module = many_functions(1000)
    return least(options.runs, lambda: nothing(module)) / 1000 * 1e6, 3, "us for a function and a pass that does nothing"


PIPELINE = """
import sys, time, iropt
pipeline = iropt.Pipeline("default<O3>")
start = time.process_time()
text = pipeline(iropt.from_file(sys.argv[1])).script()
with open("/dev/null", "w") as file:
    file.write(text)
print(time.process_time() - start)
"""


def of_children():
    """The processor time of ended processes."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_tool(options, path):
    """With pages of the usual size, as the processes of Python have them: the measure is what the package adds."""
    subprocess.run([options.ir_opt, "-passes=default<O3>", "-threads=1", path, "-o", os.devnull], check=True,
                   stderr=subprocess.DEVNULL, env={**os.environ, "MIMALLOC_LARGE_OS_PAGES": "0"})


def pipeline_ratio(options, model, empty):
    """By processor time, in turn, both in processes of their own; the package without its import, ir-opt without its start."""

    package, tool, start = [], [], []
    for _ in range(options.runs):
        done = subprocess.run([sys.executable, "-c", PIPELINE, model], check=True, capture_output=True, text=True)
        package.append(float(done.stdout))
        tool.append(least(1, lambda: run_tool(options, model), of_children))
        start.append(least(1, lambda: run_tool(options, empty), of_children))
    print(f"  {os.path.basename(model)}: ir-opt {min(tool) - min(start):.4f} s, without {min(start):.4f} s of its start; "
          f"the package {min(package):.4f} s")
    return min(package) / (min(tool) - min(start))


def measure_pipeline(options):
    with tempfile.TemporaryDirectory() as folder:
        empty, generated = os.path.join(folder, "empty.ir"), os.path.join(folder, "generated.ir")
        with open(empty, "w", encoding="ascii") as file:
            file.write("@R.function\ndef main(x: R.Tensor((4,), 'float32')):\n    return x\n")
        subprocess.run([sys.executable, os.path.join(HERE, "gen_workload.py"), "--ops", "20000", "--funcs", "4",
                        "--tvmscript", generated], check=True, stdout=subprocess.DEVNULL)
        models = options.model or [generated]
        ratio = max(pipeline_ratio(options, model, empty) for model in models)
    return ratio, 1.05, "of the time of ir-opt to read, optimize by default<O3> and print"


# A decoder as models are written for TVM, with a function for each way to call it.
LLAMA = """
from iropt.relax.frontend import nn
from iropt.relax.frontend.nn import op
from iropt.relax.frontend.nn.llm.kv_cache import PagedKVCache

HIDDEN, HEADS, SIZE, INNER, WORDS, LAYERS = 4096, 32, 128, 11008, 32000, 32


class Attention(nn.Module):
    def __init__(self):
        self.qkv_proj = nn.Linear(HIDDEN, 3 * HEADS * SIZE, bias=False)
        self.o_proj = nn.Linear(HEADS * SIZE, HIDDEN, bias=False)

    def forward(self, hidden, cache, layer):
        batch, length, _ = hidden.shape
        qkv = op.reshape(self.qkv_proj(hidden), (batch, length, 3 * HEADS, SIZE))
        output = cache.attention_with_fused_qkv(layer, qkv, HEADS, SIZE**-0.5)
        return self.o_proj(op.reshape(output, (batch, length, HEADS * SIZE)))


class Mlp(nn.Module):
    def __init__(self):
        self.gate_up_proj = nn.Linear(HIDDEN, 2 * INNER, bias=False)
        self.down_proj = nn.Linear(INNER, HIDDEN, bias=False)

    def forward(self, x):
        gate, up = op.split(self.gate_up_proj(x), 2, axis=-1)
        return self.down_proj(op.silu(gate) * up)


class Layer(nn.Module):
    def __init__(self):
        self.self_attn, self.mlp = Attention(), Mlp()
        self.input_layernorm = nn.RMSNorm(HIDDEN, -1, 1e-5, bias=False)
        self.post_attention_layernorm = nn.RMSNorm(HIDDEN, -1, 1e-5, bias=False)

    def forward(self, hidden, cache, layer):
        hidden = self.self_attn(self.input_layernorm(hidden), cache, layer) + hidden
        return self.mlp(self.post_attention_layernorm(hidden)) + hidden


class Llama(nn.Module):
    def __init__(self):
        self.embed_tokens = nn.Embedding("vocab_size", HIDDEN)
        self.layers = nn.ModuleList([Layer() for _ in range(LAYERS)])
        self.norm = nn.RMSNorm(HIDDEN, -1, 1e-5, bias=False)
        self.lm_head = nn.Linear(HIDDEN, "vocab_size", bias=False)

    def embed(self, ids):
        return self.embed_tokens(ids)

    def hidden(self, x, cache):
        for index, layer in enumerate(self.layers):
            x = layer(x, cache, index)
        return self.norm(x)

    def logits(self, x):
        return op.astype(self.lm_head(x), "float32")

    def prefill(self, x, cache):
        return self.logits(self.hidden(x, cache)), cache

    def last_hidden(self, x, cache):
        return self.hidden(x, cache), cache

    decode = batch_decode = verify = prefill


def export():
    model = Llama()
    model.to("float16")
    tensor = nn.spec.Tensor
    shapes = {"prefill": [1, "length", HIDDEN], "last_hidden": [1, "length", HIDDEN], "decode": [1, 1, HIDDEN],
              "batch_decode": ["batch", 1, HIDDEN], "verify": ["batch", "length", HIDDEN]}
    spec = {name: {"x": tensor(shape, "float16"), "cache": nn.spec.Object(object_type=PagedKVCache),
                   "$": {"param_mode": "packed", "effect_mode": "none"}} for name, shape in shapes.items()}
    spec["embed"] = {"ids": tensor(["length"], "int32"), "$": {"param_mode": "packed", "effect_mode": "none"}}
    return model.export_tvm(spec)[0]
"""


def measure_llama(options):
    import iropt

    names = {}
    exec(LLAMA, names)  # pylint: disable=exec-used
    pipeline = iropt.Pipeline("default<O3>")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "llama.ir")
        with open(path, "w", encoding="ascii") as file:
            file.write(names["export"]().script())
        export = least(options.runs, names["export"])
        package = least(options.runs, lambda: pipeline(names["export"]()).script())
        tool = least(options.runs, lambda: run_tool(options, path), of_children)
    print(f"  ir-opt {tool:.4f} s; the package {package:.4f} s, of it {export:.4f} s to export")
    return package / tool, 1.3, "of the time of ir-opt on the exported text for exporting, default<O3> and printing a decoder of 32 layers"


def measure_visitor(options):
    import iropt
    from iropt import relax

    count = 35_000
    lines = ["@R.function", "def main(x0: R.Tensor((4,), 'float32')):"]
    lines += [f"    x{i + 1} = R.add(x{i}, x{i})" for i in range(count)]
    text = "\n".join(lines + [f"    return x{count}"]) + "\n"
    function = iropt.from_source(text)["main"]
    tree = ast.parse(text)

    class Calls(relax.PyExprVisitor):
        def __init__(self):
            self.found = 0

        def visit_call_(self, op):
            self.found += 1
            super().visit_call_(op)

    class AstCalls(ast.NodeVisitor):
        def __init__(self):
            self.found = 0

        def visit_Call(self, node):  # pylint: disable=invalid-name
            self.found += 1
            self.generic_visit(node)

    def visit(visitor, method, root):
        getattr(visitor, method)(root)
        assert visitor.found == count + (method == "visit") * len(tree.body[0].args.args)

    nodes = 0

    def add(_):
        nonlocal nodes
        nodes += 1

    relax.analysis.post_order_visit(function, add)
    ast_nodes = sum(1 for _ in ast.walk(tree))
    ours = least(options.runs, lambda: visit(Calls(), "visit_expr", function)) / nodes
    pythons = least(options.runs, lambda: visit(AstCalls(), "visit", tree)) / ast_nodes
    print(f"  {nodes} nodes, {ours * 1e9:.0f} ns each; {ast_nodes} of ast, {pythons * 1e9:.0f} ns each")
    return ours / pythons, 1, "of the time of ast.NodeVisitor for a node"


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def read_and_optimize(text, pipeline):
    import iropt

    return iropt.Pipeline(pipeline)(iropt.from_source(text)).script()


def measure_memory(options):
    del options
    text = many_functions(4).script()
    for _ in range(1000):
        read_and_optimize(text, "default<O3>")
    gc.collect()
    before = resident()
    for _ in range(10_000):
        read_and_optimize(text, "default<O3>")
    gc.collect()
    return (resident() - before) / 1e6, 2, "MB more after 10,000 modules"


def measure_threads(options):
    """Two threads do twice the work of one; handing the interpreter's lock over may cost a little."""
    from iropt import transform

    text = many_functions(200).script()
    failures = []

    def work(level):
        with transform.PassContext(opt_level=level):
            for _ in range(5):
                read_and_optimize(text, "default<O3>")
            if transform.PassContext.current().opt_level != level:
                failures.append(level)

    def both():
        threads = [threading.Thread(target=work, args=(level,)) for level in (2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    one = least(options.runs, lambda: work(3))
    two = least(options.runs, both)
    assert not failures
    return two / one, 2.2, "of the processor time of one thread for two with contexts of their own"


MEASURES = {"import": measure_import, "pass": measure_pass, "pipeline": measure_pipeline, "llama": measure_llama, "visitor": measure_visitor,
            "memory": measure_memory, "threads": measure_threads}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", default=os.path.join(ROOT, "build/bin/ir-opt"))
    parser.add_argument("--model", action="append")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("measures", nargs="*", metavar="MEASURE")
    options = parser.parse_args()
    failed = False
    for name in options.measures or MEASURES:
        value, limit, what = MEASURES[name](options)
        failed |= value > limit
        print(f"{name}: {value:.3f} {what} (limit {limit}){' FAILED' if value > limit else ''}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
