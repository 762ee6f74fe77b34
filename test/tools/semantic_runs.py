"""Runs of ir-opt under -check-semantics=each, and options with which passes have an effect."""
import re
import subprocess
import tempfile

# On any module.
OPTIONS = {
    "ConvertLayout": '<desired_layouts={"relax.nn.conv2d":["NHWC","OHWI"]};strict=false>',
    "PrintAnalyses": "<uses>",
    "tir.ApplyTrace": '<trace="[[], []]">',
    "tir.BindTarget": '<target="llvm">',
}
# The passes before one whose result is otherwise ill-formed, because what it adds has effects, or that refuses or loses what
# they lower: without blocks nothing tells that threads reduce into one memory.
_IMPURE = "ToNonDataflow,RemovePurityChecking,"
_THREADS = "tir.LowerCrossThreadReduction,"
_OPAQUE = f"{_THREADS}tir.LowerInitBlock,tir.PlanAndUpdateBufferAllocationLocation,tir.ConvertBlocksToOpaque,"
_FLAT = f"{_OPAQUE}tir.LowerMatchBuffer,tir.LowerOpaqueBlock,tir.FlattenBuffer,"
_TARGET = 'tir.BindTarget<target="llvm -host=llvm">,'
BEFORE = {
    **dict.fromkeys(
        ["CallTIRRewrite", "KillAfterLastUse", "LowerRuntimeBuiltin", "VMBuiltinLower", "VMShapeLower"], _IMPURE),
    **dict.fromkeys(
        ["tir.AnnotateDeviceRegions", "tir.LowerDeviceKernelLaunch", "tir.LowerIntrin", "tir.LowerTVMBuiltin",
         "tir.MakePackedAPI", "tir.MakeUnpackedAPI"], _TARGET),
    "tir.PlanAndUpdateBufferAllocationLocation": "tir.LowerInitBlock,",
    "tir.ConvertBlocksToOpaque": f"{_THREADS}tir.LowerInitBlock,",
    **dict.fromkeys(["tir.LiftThreadBinding", "tir.UnifyThreadBinding"], _THREADS),
    "tir.CompactBufferAllocation": _OPAQUE,
    "tir.LowerOpaqueBlock": f"{_OPAQUE}tir.LowerMatchBuffer,",
    "tir.FlattenBuffer": f"{_OPAQUE}tir.LowerMatchBuffer,tir.LowerOpaqueBlock,",
    "tir.FP8ComputeLegalize": 'tir.BindTarget<target="llvm">,',
    "tir.StorageRewrite": f"{_FLAT}tir.VectorizeLoop,",
    "tir.VerifyMemory": 'tir.BindTarget<target="llvm">,',
    "tir.VectorizeLoop": _FLAT,
}
# The same, with those without which a pass of the lowering has nothing to do. Legalized models run too long.
BEFORE_ON_SMALL_MODULES = BEFORE | {
    "VMShapeLower": f"LambdaLift,{_IMPURE}",
    "CallTIRRewrite": f"LegalizeOps,{_IMPURE}",
    "KillAfterLastUse": f"LegalizeOps,{_IMPURE}CallTIRRewrite,StaticPlanBlockMemory,LowerAllocTensor,",
    "LowerAllocTensor": f"LegalizeOps,{_IMPURE}CallTIRRewrite,",
    "StaticPlanBlockMemory": f"LegalizeOps,{_IMPURE}CallTIRRewrite,",
}
# Passes that need more than a module whose functions do not state a target, with the reason.
NEED_MORE = {
    "QuantizeStatic": "it needs samples of the inputs",
    "AnnotateCustomMemoryScope": "it needs a target with textures",
    "tir.LowerThreadAllreduce": "it needs a target with threads",
    "tir.LowerWarpMemory": "it needs a target with threads",
}
# The last line of the table.
SUMMARY = re.compile(r"^functions: (\d+) \((\d+) unchanged, (\d+) not compared\)$", re.MULTILINE)
MARKER = "# ----- next module"
NOT_COMPARED = re.compile(r"function '[^']*' is not compared: .*")


class Run:
    """What a run has found."""

    def __init__(self, code, messages):
        summary = SUMMARY.search(messages)
        self.failure = None if code == 0 and summary else f"exit code {code}:\n{messages[:1500]}"
        functions, unchanged, self.not_compared = map(int, summary.groups()) if summary else (0, 0, 0)
        self.compared = functions - unchanged - self.not_compared
        self.reasons = NOT_COMPARED.findall(messages)


def pipelines(names, options, text):
    """Pairs of a name and a pipeline for a module: each pass by itself, but for those of loops if it has no loops; then they
    find nothing to do, and share a pipeline."""
    def pipeline(name):
        return BEFORE.get(name, "") + name + options.get(name, "")

    shared = [] if "@T.prim_func" in text else [name for name in names if name.startswith("tir.")]
    alone = [(name, pipeline(name)) for name in names if name not in shared]
    return alone + ([("passes of loops", ",".join(map(pipeline, shared)))] if shared else [])


def start(ir_opt, pipeline, path, *flags):
    """The exit code and the messages of a run."""
    command = [ir_opt, "-O4", f"-passes={pipeline}", "-check-semantics=each", "-verify-roundtrip", *flags, path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr


def run(ir_opt, pipeline, path, *flags):
    return Run(*start(ir_opt, pipeline, path, *flags))


def run_many(ir_opt, pipeline, paths):
    """A run for each of the files. They share a process, which takes less time; if it fails, each has its own."""
    with tempfile.NamedTemporaryFile("w", suffix=".ir", encoding="utf-8") as joined:
        for i, path in enumerate(paths):
            with open(path, encoding="utf-8") as f:
                joined.write(f"{MARKER}\n" * (i > 0) + f.read())
        joined.flush()
        code, messages = start(ir_opt, pipeline, joined.name, f"-split-input-file={MARKER}")
    ends = [0, *(summary.end() for summary in SUMMARY.finditer(messages))]
    if code == 0 and len(ends) == len(paths) + 1:
        return [Run(code, messages[begin:end]) for begin, end in zip(ends, ends[1:])]
    return [run(ir_opt, pipeline, path) for path in paths]
