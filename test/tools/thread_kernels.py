#!/usr/bin/env python3
"""Random kernels whose threads exchange values: cooperative loads, reads of what other threads loaded, double buffers,
reductions in trees and by T.tvm_thread_allreduce, tiles with predicates. What they compute is computed here, too.

    thread_kernels.py --ir-opt BIN --ir-run BIN [--count N] [--seed N] [--print INDEX]

Each kernel is written in several forms: with its barriers, without any (tir.ThreadSync adds them), and without one that
it needs. The first two must give the expected results, interpreted and compiled, before and after they are lowered, and
-check-semantics must compare them around each pass. The last one must be reported as a race, also by tir.VerifyRaces,
which must find nothing in the first one.
"""
import argparse
import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile

TENSORS = os.path.join(os.path.dirname(__file__), "..", "run", "Inputs", "tensors.py")
LOWER = "tir.lower,tir.ThreadSync<storage_scope=shared>"
RACE = "without a barrier in between"
BARRIER = 'T.tvm_storage_sync("shared")'
SUM = 'T.attr(T.comm_reducer(lambda x, y: x + y, [0]), "reduce_scope", T.reinterpret("handle", T.uint64(0)))'


class Kernel:
    """Runs its statements as it writes them: `shared`, `own` and `total` are lists over the elements or threads of each
    block. A barrier is an item of its own in `items`; the others are pairs of lines and accesses, which are triples of a
    block and a thread, an element of the shared memory, and whether it is changed."""

    def __init__(self, rng):
        self.rng = rng
        self.blocks = rng.choice([1, 2, 3])
        self.shape = rng.choice([(4,), (8,), (16,), (2, 4), (4, 4)])
        self.threads = 1
        for extent in self.shape:
            self.threads *= extent
        self.steps = rng.choice([2, 3, 4])
        count = self.blocks * self.steps * self.threads
        self.a = [rng.randint(-9, 9) for _ in range(count)]
        self.shared = [[None] * (2 * self.threads) for _ in range(self.blocks)]
        self.own = [list(range(1, self.threads + 1)) for _ in range(self.blocks)]
        self.items = []
        for _ in range(rng.randint(1, 3)):
            rng.choice([self.exchange, self.double_buffer, self.tree, self.predicate, self.allreduce])()
        self.result = [value for block in self.own for value in block]

    def every(self):
        return [(b, t) for b in range(self.blocks) for t in range(self.threads)]

    def permutation(self):
        """An index of another thread, as text and as a function."""
        factor, shift = self.rng.choice([1, 3, 5, 7]), self.rng.randrange(1, self.threads)
        return f"(t * {factor} + {shift}) % {self.threads}", lambda t: (t * factor + shift) % self.threads

    def add(self, lines, accesses=()):
        self.items.append((lines, list(accesses)))

    def barrier(self):
        self.items.append(None)

    def store(self, text, index, value_text, value, active=lambda t: True, prefix=()):
        """Threads store to shared memory, all at the same time."""
        stored = [(b, t, index(t), value(b, t)) for b, t in self.every() if active(t)]
        for b, _, element, new in stored:
            self.shared[b][element] = new
        self.add([*prefix, ("    " if prefix else "") + f"S[{text}] = {value_text}"], [((b, t), i, True) for b, t, i, _ in stored])

    def read(self, text, index, weight):
        for b, t in self.every():
            self.own[b][t] = self.own[b][t] * weight + self.shared[b][index(t)]
        self.add([f"L[0] = L[0] * {weight} + S[{text}]"], [((b, t), index(t), False) for b, t in self.every()])

    def input(self, step):
        at = lambda b, t: self.a[(b * self.steps + step) * self.threads + t]
        return f"A[bx, {step}, t]", at

    # ---- Parts of kernels; each ends with a barrier

    def exchange(self):
        to, to_index = self.permutation()
        source, source_index = self.permutation()
        self.store(to, to_index, *self.input(self.rng.randrange(self.steps)))
        self.barrier()
        self.read(source, source_index, self.rng.choice([1, 2]))
        self.barrier()

    def double_buffer(self):
        """Loads into one half while the other is read: one barrier in each step."""
        source, index = self.permutation()
        for step in range(self.steps):
            half = step % 2 * self.threads
            self.store(f"{half} + t", lambda t, half=half: half + t, *self.input(step))
            self.barrier()
            self.read(f"{half} + {source}", lambda t, half=half: half + index(t), 1)
        self.barrier()

    def tree(self):
        self.store("t", lambda t: t, "L[0]", lambda b, t: self.own[b][t])
        self.barrier()
        size = self.threads // 2
        while size:
            before = [list(block) for block in self.shared]
            for b, t in self.every():
                if t < size:
                    self.shared[b][t] = before[b][t] + before[b][t + size]
            active = [(b, t) for b, t in self.every() if t < size]
            self.add([f"if t < {size}:", f"    S[t] = S[t] + S[t + {size}]"],
                     [access for b, t in active for access in (((b, t), t + size, False), ((b, t), t, True))])
            self.barrier()
            size //= 2
        self.read("0", lambda t: 0, 1)
        self.barrier()

    def predicate(self):
        """A tile that is smaller than the block of threads."""
        size = self.rng.randint(1, self.threads - 1)
        self.store("t", lambda t: t, "0", lambda b, t: 0)
        self.store("t", lambda t: t, *self.input(0), active=lambda t: t < size, prefix=[f"if t < {size}:"])
        self.barrier()
        source, index = self.permutation()
        self.read(source, index, 1)
        self.barrier()

    def allreduce(self):
        """The threads that differ in the innermost axis add their values."""
        last = self.shape[-1]
        for block in self.own:
            for first in range(0, self.threads, last):
                block[first:first + last] = [sum(block[first:first + last])] * last
        self.add([f"with {SUM}:", f"    T.tvm_thread_allreduce(T.uint32(1), L[0], T.bool(True), R[0], t{len(self.shape) - 1})",
                  "L[0] = R[0]"])

    # ---- Text

    def write(self, barriers):
        """Barriers whose indices are in the set are written."""
        lines = [line for i, item in enumerate(self.items)
                 for line in ((item[0]) if item else [BARRIER] if i in barriers else [])]
        shared = f'S = T.decl_buffer(({2 * self.threads},), "int32", scope="shared")'
        outer = [shared] if self.rng.random() < 0.5 else []
        body = [f"for bx in T.thread_binding({self.blocks}, thread=\"blockIdx.x\"):"]
        axes = "zyx"[-len(self.shape):]
        for i, extent in enumerate(self.shape):
            body.append("    " * (i + 1) + f"for t{i} in T.thread_binding({extent}, thread=\"threadIdx.{axes[i]}\"):")
        index = "t0" if len(self.shape) == 1 else f"t0 * {self.shape[1]} + t1"
        head = ([] if outer else [shared]) + ['L = T.decl_buffer((1,), "int32", scope="local")',
                                              'R = T.decl_buffer((1,), "int32", scope="local")', f"t: T.int32 = {index}",
                                              "L[0] = t + 1"]
        inner = "    " * (len(self.shape) + 1)
        body += [inner + line for line in head + lines + ["O[bx, t] = L[0]"]]
        shape = f"({self.blocks}, {self.steps}, {self.threads})"
        return ("from tvm.script import ir as I\nfrom tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func\n"
                f"    def main(A: T.Buffer({shape}, \"int32\"), O: T.Buffer(({self.blocks}, {self.threads}), \"int32\")):\n" +
                "".join(f"        {line}\n" for line in outer + body))

    def barriers(self):
        return [i for i, item in enumerate(self.items) if item is None]

    def needs(self, barrier):
        """Whether threads race without this barrier."""
        before = self.between(barrier, -1)
        return any(a[1] == b[1] and a[0][0] == b[0][0] and a[0] != b[0] and (a[2] or b[2])
                   for a in before for b in self.between(barrier, 1))

    def between(self, barrier, step):
        found, i = [], barrier + step
        while 0 <= i < len(self.items) and self.items[i] is not None:
            found += self.items[i][1]
            i += step
        return found


class Checker:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def run(self, *command):
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def write(self, name, contents):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(contents)
        return path

    def tensor(self, name, array, shape, values):
        path = os.path.join(self.folder, name)
        subprocess.run([sys.executable, TENSORS, path, f"{array}=int32:{','.join(map(str, shape))}:{','.join(map(str, values))}"],
                       check=True)
        return path

    def check(self, index):
        """The failures of a kernel, and the number of its forms that were checked."""
        rng = random.Random(self.options.seed * 1_000_003 + index)
        kernel = Kernel(rng)
        inputs = self.tensor(f"{index}.in.npz", "A", (kernel.blocks, kernel.steps, kernel.threads), kernel.a)
        expected = self.tensor(f"{index}.out.npz", "out0", (kernel.blocks, kernel.threads), kernel.result)
        barriers = kernel.barriers()
        failures, forms = [], 0
        for name, kept in {"with barriers": barriers, "without barriers": []}.items():
            path = self.write(f"{index}.{name.replace(' ', '_')}.ir", kernel.write(kept))
            forms += 1
            failures += [f"kernel {index} {name}: {text}" for text in self.check_values(path, inputs, expected)]
        failures += self.verify_races(index, os.path.join(self.folder, f"{index}.with_barriers.ir"), is_race=False)
        needed = [b for b in barriers if kernel.needs(b)]
        # The last barrier of all cannot be told from those that tir.ThreadSync adds.
        if needed and len(barriers) > 1:
            without = rng.choice(needed)
            path = self.write(f"{index}.race.ir", kernel.write([b for b in barriers if b != without]))
            done = self.run(self.options.ir_run, f"-inputs={inputs}", path)
            forms += 1
            if done.returncode != 0 or RACE not in done.stderr:
                failures.append(f"kernel {index}: the race without barrier {without} is not reported: {done.stderr[:800]}")
            failures += self.verify_races(index, path, is_race=True)
        return failures, forms

    def verify_races(self, index, path, is_race):
        for passes in ["tir.VerifyRaces", "tir.lower,tir.VerifyRaces"]:
            done = self.run(self.options.ir_opt, f"-passes={passes}", path, "-o", "/dev/null")
            good = done.returncode == 4 and RACE in done.stderr if is_race else done.returncode == 0 and not done.stderr
            if not good:
                yield f"kernel {index}, -passes={passes}, {'a' if is_race else 'no'} race: {done.stderr[:800]}"

    def check_values(self, path, inputs, expected):
        for passes in [[], [f"-passes={LOWER}"]]:
            for loops in self.options.loops:
                done = self.run(self.options.ir_run, f"-inputs={inputs}", f"-check={expected}", f"-loops={loops}", *passes, path)
                if done.returncode != 0 or "warning" in done.stderr:
                    yield f"{' '.join([*passes, loops])}: {done.stderr[:800] or done.stdout[:800]}"
        done = self.run(self.options.ir_opt, f"-passes={LOWER}", "-check-semantics=each", "-require-comparison", path, "-o", "/dev/null")
        if done.returncode != 0:
            yield f"-check-semantics=each: {done.stderr[:1200]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--interpret", dest="loops", action="store_const", const=["interpret"], default=["interpret", "compile"],
                        help="do not compile")
    parser.add_argument("--print", type=int, metavar="INDEX", help="print a kernel with its barriers")
    options = parser.parse_args()
    if options.print is not None:
        kernel = Kernel(random.Random(options.seed * 1_000_003 + options.print))
        print(kernel.write(kernel.barriers()), end="")
        return 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(Checker(options, folder).check, range(options.count)))
    for failures, _ in results:
        for failure in failures:
            print(failure)
    print(f"{sum(forms for _, forms in results)} forms of {len(results)} kernels, {sum(len(f) for f, _ in results)} failures")
    return int(any(failures for failures, _ in results))


if __name__ == "__main__":
    sys.exit(main())
