#!/usr/bin/env python3
"""Random kernels of a few statements with random indices and conditions, whose races are found here by trying all
threads, blocks, iterations and lanes; -verify-races must say the same.

    race_kernels.py --ir-opt BIN [--count N] [--seed N] [--print INDEX]

Half of the kernels have sizes that are variables: these are tried from 1 to 9. A kernel that is not decided is not wrong, but
only --undecided of all may be so.
"""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

SIZES = range(1, 10)
HEAD = "from tvm.script import ir as I\nfrom tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n"


class Kernel:
    """A tree of statements: ("for", variable, extent), ("if", condition), ("barrier",), ("arrive" or "wait", mbarrier), or an access:
    ("read" or "write", index, lanes, stride)."""

    def __init__(self, seed):
        rng = self.rng = random.Random(seed)
        self.is_symbolic = rng.random() < 0.5
        self.is_global = rng.random() < 0.4
        self.size_max = "n" if self.is_symbolic else None
        self.extents = {"tx": str(rng.choice([2, 4, 5, 8, 16])), "bx": str(rng.choice([1, 2, 3]))}
        if rng.random() < 0.4:
            self.extents["ty"] = str(rng.choice([2, 3, 4]))
        if self.is_symbolic:
            self.extents[rng.choice(["bx", "tx", "bx"])] = rng.choice(["n", "(n + 3) // 4", "n * 2"])
        self.body = self.statements(["bx", *(name for name in ("ty", "tx") if name in self.extents)], 0)
        self.mbarriers = 0 if self.is_symbolic or self.is_global or rng.random() < 0.3 else rng.choice([1, 1, 2, 3])
        if self.mbarriers and rng.random() < 0.7:
            self.body = self.exchanges()
        for number in range(self.mbarriers):
            self.add_mbarrier(number)

    # ---- Random parts

    def linear(self, variables):
        text = " + ".join(f"{v} * {self.factor()}" if self.rng.random() < 0.7 else v
                          for v in self.rng.sample(variables, self.rng.randint(1, len(variables))))
        return text + (f" + {self.rng.randint(1, 40)}" if self.rng.random() < 0.3 else "")

    def factor(self):
        if self.is_symbolic and self.rng.random() < 0.25:
            return "n"
        return self.rng.choice([1, 2, 3, 4, 5, 8, 16, 32, *(int(e) for e in self.extents.values() if e.isdigit())])

    def fused(self, variables):
        """Variables as the digits of one number."""
        text, variables = "", list(variables)
        if self.rng.random() < 0.3:
            self.rng.shuffle(variables)
        for variable in variables:
            extent = self.extents[variable]
            text = f"({text}) * ({extent}) + {variable}" if text else variable
        return text

    def index(self, variables):
        kind = self.rng.random()
        if kind < 0.3:
            return self.linear(variables)
        number = self.fused(variables if kind < 0.6 else self.rng.sample(variables, self.rng.randint(1, len(variables))))
        if kind < 0.45:
            return number
        a, b = self.rng.choice([2, 3, 4, 5, 8]), self.rng.choice([2, 3, 4, 8])
        return self.rng.choice([
            f"({number}) // {a} * {a} + ({number}) % {a}", f"({number}) % {a} * {b * 8} + ({number}) // {a}",
            f"({number}) // {a * b} * {a * b} + ({number}) % {a * b} // {b} * {b} + ({number}) % {b}", f"({number}) // {a}",
            f"({number}) % {a * b}", f"T.min({number}, {a * b})", f"T.bitwise_xor({number}, {a - 1})",
            f"T.shift_right({number}, 1) * 2 + T.bitwise_and({number}, 1)"
        ])

    def condition(self, variables):
        left = self.fused(self.rng.sample(variables, self.rng.randint(1, len(variables))))
        right = "n" if self.is_symbolic and self.rng.random() < 0.4 else self.rng.randint(1, 20)
        return f"{left} {self.rng.choice(['<', '<', '>=', '=='])} {right}"

    def access(self, variables):
        lanes = self.rng.choice([2, 4]) if self.rng.random() < 0.2 else 1
        kind = "write" if self.rng.random() < 0.55 else "read"
        return (kind, self.index(variables), lanes, self.rng.choice([1, 1, 2, 3]))

    def statements(self, variables, depth):
        result = []
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if depth < 2 and kind < 0.2:
                name = "ijk"[depth]
                self.extents[name] = "n" if self.is_symbolic and self.rng.random() < 0.3 else str(self.rng.choice([1, 2, 3, 4]))
                result.append((("for", name, self.extents[name]), self.statements([*variables, name], depth + 1)))
            elif depth < 3 and kind < 0.3:
                result.append((("if", self.condition(variables)), self.accesses(variables)))
            else:
                result.append((self.access(variables), []))
            if not self.is_global and self.rng.random() < 0.3:
                result.append((("barrier",), []))
        return result

    def accesses(self, variables):
        return [(self.access(variables), []) for _ in range(self.rng.randint(1, 2))]

    def exchanges(self):
        """Accesses of elements of a thread or of its opposite, whose order decides whether they race."""
        thread = self.fused([name for name in ("ty", "tx") if name in self.extents])
        last = product(int(self.extents[name]) for name in ("ty", "tx") if name in self.extents) - 1
        result = []
        for _ in range(self.rng.randint(2, 5)):
            index = self.rng.choice([f"({thread})", f"{last} - ({thread})"]) + self.rng.choice(["", "", f" + {last + 1}"])
            result.append(((self.rng.choice(["read", "write"]), index, 1, 1), []))
            if self.rng.random() < 0.1:
                result.append((("barrier",), []))
        return result

    def add_mbarrier(self, number):
        """An arrival and a wait of all threads, without a barrier that is inside of a statement in between."""
        first = last = self.rng.randint(0, len(self.body))
        while last < len(self.body) and not has_barrier(self.body[last][1]) and self.rng.random() < 0.4:
            last += 1
        self.body.insert(last, (("wait", number), []))
        self.body.insert(first, (("arrive", number), []))

    # ---- Text

    def write(self, name):
        actor = "tx + bx * 1000" + (" + ty * 100" if "ty" in self.extents else "")
        lines = [f"def {name}(A: T.handle, D: T.Buffer((100000,), \"int32\")):"] if self.is_symbolic else [
            f"def {name}(D: T.Buffer((100000,), \"int32\")):"]
        lines += ["    n = T.int32()", '    A_1 = T.match_buffer(A, (n,), "int32")'] if self.is_symbolic else []
        lines += [f'    {axis} = T.launch_thread("{tag}", {self.extents[axis]})'
                  for axis, tag in (("bx", "blockIdx.x"), ("ty", "threadIdx.y"), ("tx", "threadIdx.x")) if axis in self.extents]
        lines += ['    S = T.allocate([100000], "int32", "shared")', '    S_1 = T.Buffer((100000,), "int32", data=S, scope="shared")',
                  '    L = T.allocate([8], "int32", "local")', '    L_1 = T.Buffer((8,), "int32", data=L, scope="local")']
        buffer = "D" if self.is_global else "S_1"
        if self.mbarriers:
            count = product(int(self.extents[name]) for name in ("ty", "tx") if name in self.extents)
            sync = '    T.tvm_storage_sync("shared")'
            lines += [f"    T.create_barriers({self.mbarriers})", sync, "    if tx == 0" + (" and ty == 1:" if "ty" in self.extents else ":")]
            lines += [f"        T.ptx_init_barrier_thread_count({number}, {count})" for number in range(self.mbarriers)] + [sync]

        def add(statements, indent):
            for head, body in statements:
                if head[0] == "for":
                    lines.append(f"{indent}for {head[1]} in range({head[2]}):")
                elif head[0] == "if":
                    lines.append(f"{indent}if {head[1]}:")
                elif head[0] == "barrier":
                    lines.append(f'{indent}T.tvm_storage_sync("shared")')
                elif head[0] in ("arrive", "wait"):
                    lines.append(f"{indent}T.ptx_{head[0]}_barrier({head[1]})")
                else:
                    kind, index, lanes, stride = head
                    element = f"{buffer}[{index}]" if lanes == 1 else f"{buffer}[T.Ramp({index}, {stride}, {lanes})]"
                    own = "L_1[0]" if lanes == 1 else f"L_1[0:{lanes}]"
                    value = actor if lanes == 1 else f"T.Broadcast({actor}, {lanes})"
                    lines.append(f"{indent}{own} = {element}" if kind == "read" else f"{indent}{element} = {value}")
                add(body, indent + "    ")

        add(self.body, "    ")
        return ["@T.prim_func", *lines]

    # ---- Races

    def has_race(self):
        return any(self.has_race_with(n) for n in (SIZES if self.is_symbolic else [0]))

    def has_race_with(self, n):
        """By phase and element, and how many arrivals and waits came before, the actors that read and write."""
        code = compile_statements(self.body)
        names = [name for name in ("bx", "ty", "tx") if name in self.extents]
        extents = [eval(self.extents[name], {"n": n}) for name in names]
        events = [head for head, _ in self.body if head[0] in ("arrive", "wait")]
        order = [(events.index(("arrive", number)), events.index(("wait", number))) for number in range(self.mbarriers)]
        seen = collections.defaultdict(lambda: collections.defaultdict(lambda: [set(), set()]))
        for number in range(product(extents)):
            values = dict(FUNCTIONS, n=n)
            rest = number
            for name, extent in zip(reversed(names), reversed(extents)):
                values[name] = rest % extent
                rest //= extent
            block, thread = values["bx"], number
            for phase, part, element, is_write in accesses_of(code, values):
                key, actor = ((element,), block) if self.is_global else ((block, phase, element), thread)
                seen[key][part][is_write].add(actor)
                if self.is_global:
                    seen[(block, phase, element)][part][is_write].add(thread)
        return any(meet(parts[a], parts[b]) for parts in seen.values() for a in parts for b in parts
                   if a <= b and not any(a <= arrival and b > wait for arrival, wait in order))


def meet(a, b):
    """Whether an actor changes what another one reads or changes."""
    return any(len(some | other) > 1 for some, other in ((a[1], b[1]), (a[0], b[1]), (a[1], b[0])) if some and other)


def has_barrier(statements):
    return any(head[0] == "barrier" or has_barrier(body) for head, body in statements)


class Diverges(Exception):
    """Threads would not meet at a barrier."""


FUNCTIONS = {"T": type("T", (), {"min": staticmethod(min), "bitwise_xor": staticmethod(lambda a, b: a ^ b),
                                 "bitwise_and": staticmethod(lambda a, b: a & b),
                                 "shift_right": staticmethod(lambda a, b: a >> b)})}


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def compile_statements(statements):
    expressions = {"for": 2, "if": 1, "read": 1, "write": 1}
    result = []
    for head, body in statements:
        place = expressions.get(head[0])
        expression = compile(str(head[place]), "kernel", "eval") if place else None
        result.append((head, expression, compile_statements(body)))
    return result


def accesses_of(code, values):
    """The accesses of a thread: the number of barriers before, and of arrivals and waits, the element, and whether it is changed."""
    phase, part = 0, 0

    def run(statements):
        nonlocal phase, part
        for head, expression, body in statements:
            value = eval(expression, values) if expression else None
            if head[0] == "barrier":
                phase += 1
            elif head[0] in ("arrive", "wait"):
                part += 1
            elif head[0] == "for":
                for values[head[1]] in range(value):
                    yield from run(body)
            elif head[0] == "if":
                if value:
                    yield from run(body)
            else:
                for lane in range(head[2]):
                    yield phase, part, value + lane * head[3], head[0] == "write"

    yield from run(code)


def check(options, folder, batch):
    """The failures of a batch of kernels, and how many of them are not decided."""
    kernels = [Kernel(options.seed * 1_000_003 + index) for index in batch]
    lines, starts = HEAD.splitlines(), []
    for index, kernel in zip(batch, kernels):
        starts.append(len(lines))
        lines += [f"    {line}" for line in kernel.write(f"kernel{index}")]
    path = os.path.join(folder, f"{batch[0]}.ir")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    done = subprocess.run([options.ir_opt, "-passes=tir.VerifyRaces", path, "-o", "/dev/null"], capture_output=True, text=True,
                          timeout=600, check=False)
    found = collections.defaultdict(list)
    for line, kind, text in re.findall(r"^[^ \n]*\.ir:(\d+):\d+: (error|warning): (.*)", done.stderr, re.MULTILINE):
        found[sum(start < int(line) for start in starts) - 1].append((kind, text))
    failures, undecided = [], 0
    if done.returncode not in (0, 4) or (done.returncode == 4) != any(kind == "error" for list in found.values() for kind, _ in list):
        failures.append(f"{path}: exit code {done.returncode}: {done.stderr[:800]}")
    for number, (index, kernel) in enumerate(zip(batch, kernels)):
        has_race = kernel.has_race()
        errors = [text for kind, text in found[number] if kind == "error"]
        # A race may need greater sizes than those that were tried.
        if errors and not has_race and not kernel.is_symbolic:
            failures.append(f"kernel {index} has no race: {errors[0]}")
        if has_race and not found[number]:
            failures.append(f"kernel {index}: its race is not found")
        undecided += not errors and bool(found[number])
    return failures, undecided


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--undecided", type=float, default=0.05, metavar="SHARE", help="how many may be not decided")
    parser.add_argument("--print", type=int, metavar="INDEX", help="print a kernel")
    options = parser.parse_args()
    if options.print is not None:
        kernel = Kernel(options.seed * 1_000_003 + options.print)
        print(HEAD + "\n".join(f"    {line}" for line in kernel.write("main")))
        print(f"# {'a' if kernel.has_race() else 'no'} race")
        return 0
    # More would reach the greatest number of errors.
    batches = [range(start, min(start + 4, options.count)) for start in range(0, options.count, 4)]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda batch: check(options, folder, batch), batches))
    for failures, _ in results:
        for failure in failures:
            print(failure)
    failed, undecided = sum(len(f) for f, _ in results), sum(u for _, u in results)
    print(f"{options.count} kernels, {undecided} not decided, {failed} failures")
    return int(failed != 0 or undecided > options.undecided * options.count)


if __name__ == "__main__":
    sys.exit(main())
