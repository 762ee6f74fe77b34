#!/usr/bin/env python3
"""It must be noticed that a barrier was removed: every GPU kernel that the rules of dlight and recorded schedules make goes through
tir.lower and tir.ThreadSync. -verify-races must find nothing in it, and must find a race once one of its barriers is removed,
if a run meets one. At least one barrier must be needed, and most must be run. Exit code 77 without the cases.

    barriers.py --ir-opt BIN --ir-run BIN [--sample N] [--jobs N] [--mbarriers] [--verbose] FOLDER

FOLDER has the recorded cases. A run is that of ir-run -check-races=sampled, which looks at the order of accesses that the
barriers leave open, and at values that change; a barrier whose removal no run shows is not needed, or the run is too long.

With --mbarriers, barriers in no loop and under no condition become an arrival and a wait at mbarriers, and waits are removed in
turn. Runs, which know no mbarriers, are those of the kernel with barriers.
"""
import argparse
import collections
import concurrent.futures
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
BARRIER = re.compile(r"^ *T\.tvm_storage_sync\(.*\)\n", re.MULTILINE)
LAUNCH = re.compile(r'^ *(?:with |(\w+) = )T\.launch_thread\("(\w+)\.\w", (?:T\.int64\()?(\w+)\)*(?: as (\w+):)?\n', re.MULTILINE)
FUNCTION = re.compile(r"^    @T\.prim_func.*\n    def (\w+)\(", re.MULTILINE)
LOWER = "tir.lower,tir.ThreadSync<storage_scope=shared>,tir.ThreadSync<storage_scope=shared.dyn>"
RULES = "gpu.Matmul,gpu.GEMV,gpu.Reduction,gpu.GeneralReduction,gpu.Fallback"
TARGET = "nvidia/geforce-rtx-3090"
MODELS = ["squeezenet", "shufflenet", "resnet50", "llama_2l_tiny", "lfm2_decoder_tiny", "densenet121", "inception_v2"]
# Those of symbolic variables in a run: the first ones are greater than a tile of most kernels.
SIZES = [70, 37, 9, 7, 5, 3, 3, 3]


def read_cases(path):
    if os.path.exists(path):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                yield json.loads(line)


def sources(folder):
    """Names, texts and the arguments that schedule them."""
    for kind in ("cases", "cases_0.27"):
        for case in read_cases(os.path.join(folder, kind, "dlight.jsonl.gz")):
            rules = re.findall(r"gpu\.\w+", str(case["rules"]))
            if rules and case.get("applies", True):
                passes = f"dl.ApplyDefaultSchedule<rules=[{','.join(rules)}]>"
                yield f"dlight {case['id']}", case["before"], [f"-target={case['target']}", f"-passes={passes},{LOWER}"]
        for case in read_cases(os.path.join(folder, kind, "schedule.jsonl.gz")):
            if "threadIdx" in case.get("after", ""):
                yield f"schedule {case['id']}", case["after"], [f"-passes={LOWER}"]
    for model in MODELS:
        path = os.path.join(folder, "..", "corpus", "models", f"{model}.ir")
        if os.path.exists(path):
            graph = "LegalizeOps,AnnotateTIROpPattern,FoldConstant,FuseOps,FuseTIR"
            yield model, None, [f"-target={TARGET}", f"-passes={graph},dl.ApplyDefaultSchedule<rules=[{RULES}]>,{LOWER}", path]


def with_mbarriers(text):
    """The kernel where mbarriers are barriers that all threads reach once, and the places of these barriers in the text.

    They are the same threads, so their number must be known, and the function must be one kernel.
    """
    launches = list(LAUNCH.finditer(text))
    threads = [(match[1] or match[4], match[3]) for match in launches if match[2] == "threadIdx"]
    if not threads or not all(extent.isdigit() for _, extent in threads) or len(threads) > 3 or "ptx_" in text:
        return text, []
    head = launches[-1].end()
    indent = re.match(" *", text[head:])[0]
    replaced = [match for match in BARRIER.finditer(text, head) if "shared" in match[0] and re.match(" *", match[0])[0] == indent]
    count = 1
    for _, extent in threads:
        count *= int(extent)
    sync = f'{indent}T.tvm_storage_sync("shared")\n'
    result = f"{text[:head]}{indent}T.create_barriers({len(replaced)})\n{sync}{indent}if {' and '.join(f'{name} == 0' for name, _ in threads)}:\n"
    result += "".join(f"{indent}    T.ptx_init_barrier_thread_count({i}, {count})\n" for i in range(len(replaced))) + sync
    for i, match in enumerate(replaced):
        result += f"{text[head:match.start()]}{indent}T.ptx_arrive_barrier({i})\n{indent}T.ptx_wait_barrier({i})\n"
        head = match.end()
    return result + text[head:], replaced


class Checker:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder

    def run(self, tool, *arguments, text=None):
        try:
            return subprocess.run([tool, *arguments], input=text, capture_output=True, text=True, timeout=120, check=False)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess([tool], 124, "", "timeout")

    def kernels(self, source):
        """The kernels of a source that have threads: a name and the text of a module with that function alone.

        None if ir-opt refuses the source.
        """
        name, text, arguments = source
        done = self.run(self.options.ir_opt, *arguments, text=text)
        if done.returncode != 0:
            return None
        head = done.stdout[:done.stdout.index("class ")] + re.search(r"class .*\n", done.stdout)[0]
        starts = [match.start() for match in re.finditer(r"^    @(?:T\.prim_func|R\.function|I\.pyfunc)", done.stdout, re.MULTILINE)]
        kernels = []
        for start, end in zip(starts, [*starts[1:], len(done.stdout)]):
            function = done.stdout[start:end]
            match = FUNCTION.match(function)
            if match and "threadIdx" in function:
                function = re.sub(r"@T\.prim_func\(.*\)", "@T.prim_func", function, count=1)
                kernels.append((f"{name} {match[1]}", head + function.rstrip("\n") + "\n"))
        return kernels

    def verdict(self, text):
        done = self.run(self.options.ir_opt, "-verify-races", "-", "-o", os.devnull, text=text)
        if done.returncode not in (0, 5):
            return "failed", done.stderr
        kinds = set(re.findall(r"(?:^|: )(error|warning): ", done.stderr))
        return "race" if "error" in kinds else "undecided" if "warning" in kinds else "none", done.stderr

    def meets_race(self, text):
        """Whether a run does, and None if nothing can be said."""
        function = re.search(r"def (\w+)", text)[1]
        arguments = ["-random-inputs", "-check-races=sampled", f"-entry={function}"]
        for size in SIZES:
            done = self.run(self.options.ir_run, *arguments, "-", text=text)
            unknown = re.search(r"the size (\w+) of parameter", done.stderr)
            if not unknown:
                break
            arguments.append(f"-sym={unknown[1]}={size}")
        if done.returncode == 0:
            return False
        return True if "race on" in done.stderr else None

    def check(self, kernel):
        """Counts, and lines that say what is wrong."""
        name, text = kernel
        counts, lines = collections.Counter(kernels=1), []
        complete, barriers = with_mbarriers(text) if self.options.mbarriers else (text, list(BARRIER.finditer(text)))
        if self.options.mbarriers and not barriers:
            return counts - counts, lines
        verdict, message = self.verdict(complete)
        counts[f"complete: {verdict}"] += 1
        if verdict != "none":
            lines.append(f"{name} is complete, but {verdict}: {message[:600]}")
        for number, barrier in enumerate(barriers):
            removed = text[:barrier.start()] + text[barrier.end():]
            needed = self.meets_race(removed)
            if self.options.mbarriers:
                removed = re.sub(rf" *T\.ptx_wait_barrier\({number}\)\n", "", complete)
            counts["barriers"] += 1
            counts[{True: "needed", False: "not needed in a run", None: "not run"}[needed]] += 1
            verdict, message = self.verdict(removed)
            if needed:
                counts[f"needed: {verdict}"] += 1
                if verdict != "race":
                    lines.append(f"{name} without barrier {number}: {verdict}: {message[:600]}")
            elif verdict == "race":
                counts["races without a run that meets one"] += 1
        return counts, lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ir-opt", required=True)
    parser.add_argument("--ir-run", required=True)
    parser.add_argument("--sample", type=int, help="look at so many kernels only, the same ones each time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--undecided", type=float, default=0.02, help="the share of complete kernels that may be undecided")
    parser.add_argument("--found", type=float, default=0.90, help="the least share of needed barriers whose removal is noticed")
    parser.add_argument("--mbarriers", action="store_true", help="remove the waits of mbarriers")
    parser.add_argument("--verbose", action="store_true", help="print what is not decided as well")
    parser.add_argument("folder")
    options = parser.parse_args()
    all_sources = list(sources(options.folder))
    if not all_sources:
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        checker = Checker(options, folder)
        if options.sample:
            random.Random(1).shuffle(all_sources)
            all_sources = [source for source in all_sources if source[1]][:options.sample]
        lists = list(pool.map(checker.kernels, all_sources))
        kernels = {text: name for list_ in lists for name, text in list_ or []}
        results = list(pool.map(checker.check, [(name, text) for text, name in kernels.items()]))
    counts = sum((counts for counts, _ in results), collections.Counter(sources=len(lists), refused=lists.count(None)))
    for _, lines in results:
        for line in lines:
            if options.verbose or "undecided" not in line:
                print(line)
    for key in sorted(counts):
        print(f"{key}: {counts[key]}")
    complete = counts["complete: none"] + counts["complete: undecided"] == counts["kernels"]
    decided = counts["complete: undecided"] <= options.undecided * counts["kernels"]
    found = counts["needed: race"] >= options.found * counts["needed"]
    tried = counts["needed"] > 0 and counts["not run"] * 2 < counts["barriers"] and counts["refused"] * 2 < counts["sources"]
    return int(not (complete and decided and found and tried))


if __name__ == "__main__":
    sys.exit(main())
