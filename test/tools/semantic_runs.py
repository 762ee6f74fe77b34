"""Runs of ir-opt under -check-semantics=each, and options with which passes have an effect."""
import re
import subprocess

# On any module.
OPTIONS = {
    "ConvertLayout": '<desired_layouts={"relax.nn.conv2d":["NHWC","OHWI"]};strict=false>',
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
# The last line of the table.
SUMMARY = re.compile(r"^functions: (\d+) \((\d+) unchanged, (\d+) not compared\)$", re.MULTILINE)
NOT_COMPARED = re.compile(r"function '[^']*' is not compared: .*")


class Run:
    """What a run has found."""

    def __init__(self, code, messages):
        summary = SUMMARY.search(messages)
        self.failure = None if code == 0 and summary else f"exit code {code}:\n{messages[:1500]}"
        functions, unchanged, self.not_compared = map(int, summary.groups()) if summary else (0, 0, 0)
        self.compared = functions - unchanged - self.not_compared
        self.reasons = NOT_COMPARED.findall(messages)


def run(ir_opt, pipeline, path, *flags):
    command = [ir_opt, "-O4", f"-passes={pipeline}", "-check-semantics=each", "-verify-roundtrip", *flags, path]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    return Run(done.returncode, done.stderr)
