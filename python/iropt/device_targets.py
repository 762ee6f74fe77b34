"""Targets of devices by names of models, as TVM had them until 0.23: `tvm.target.cuda(arch="sm_80")`."""

_NEON = "-mattr=+neon"
# Boards and processors: the model, the triple, and more options.
_ARM = {
    "pixel2": ("snapdragon835", "arm64-linux-android", _NEON), "mate10": ("kirin970", "arm64-linux-android", _NEON),
    "mate10pro": ("kirin970", "arm64-linux-android", _NEON), "p20": ("kirin970", "arm64-linux-android", _NEON),
    "p20pro": ("kirin970", "arm64-linux-android", _NEON), "rasp3b": ("bcm2837", "armv7l-linux-gnueabihf", _NEON),
    "rasp4b": ("bcm2711", "armv8l-linux-gnueabihf", f"{_NEON} -mcpu=cortex-a72"),
    "rasp4b64": ("bcm2711", "aarch64-linux-gnu", f"{_NEON} -mcpu=cortex-a72"),
    "rk3399": ("rk3399", "aarch64-linux-gnu", _NEON), "pynq": ("pynq", "armv7a-linux-eabi", _NEON),
    "ultra96": ("ultra96", "aarch64-linux-gnu", _NEON),
    "beagleai": ("beagleai", "armv7a-linux-gnueabihf", f"{_NEON},+vfp4,+thumb2 -mcpu=cortex-a15"),
    "stm32mp1": ("stm32mp1", "armv7a-linux-gnueabihf", f"{_NEON},+vfp4,+thumb2 -mcpu=cortex-a7"),
    "thunderx": ("thunderx", "aarch64-linux-gnu", f"{_NEON},+crc,+lse -mcpu=thunderxt88"),
}
_RISCV = {name: (name, f"riscv{bits}-unknown-linux-gnu", f"-mcpu={name} -mabi={'ilp32' if bits == 32 else 'lp64d'}")
          for name, bits in (("sifive-e31", 32), ("sifive-e76", 32), ("sifive-u54", 64), ("sifive-u74", 64))}


def _made(kind, first, options):
    """The target of a kind; options of a program replace those of the same name."""
    from .target import Target

    given = options.split() if isinstance(options, str) else list(options or ())
    names = {option.partition("=")[0] for option in given}
    return Target(" ".join([kind, *(option for option in first if option.partition("=")[0] not in names), *given]))


def cuda(model="unknown", arch=None, options=None):
    """A GPU with CUDA: arch is its architecture, such as sm_80."""
    return _made("cuda", [f"-model={model}"] + ([f"-arch={arch}"] if arch else []), options)


def rocm(model="unknown", options=None):
    """A GPU with ROCm."""
    return _made("rocm", [f"-model={model}"], options)


def _opencl(device, model, options, *more):
    return _made("opencl", [f"-device={device}", f"-model={model}", *more], options)


def mali(model="unknown", options=None):
    """A Mali GPU with OpenCL."""
    return _opencl("mali", model, options)


def bifrost(model="unknown", options=None):
    """A Mali GPU of the Bifrost architecture with OpenCL."""
    return _opencl("bifrost", model, options)


def adreno(model="unknown", options=None):
    """An Adreno GPU with OpenCL."""
    return _opencl("adreno", model, options)


def intel_graphics(model="unknown", options=None):
    """A GPU of Intel with OpenCL."""
    return _opencl("intel_graphics", model, options, "-thread_warp_size=16")


def _llvm(table, model, options):
    first = [f"-model={model}"]
    if model in table:
        name, triple, more = table[model]
        first = [f"-model={name}", f"-mtriple={triple}", *more.split()]
    return _made("llvm", ["-keys=arm_cpu,cpu", "-device=arm_cpu", *first], options)


def arm_cpu(model="unknown", options=None):
    """An ARM processor, such as that of the board rasp4b64."""
    return _llvm(_ARM, model, options)


def rasp(options=None):
    """The processor of a Raspberry Pi 3."""
    return arm_cpu("rasp3b", options)


def riscv_cpu(model="sifive-u54", options=None):
    """A RISC-V processor of SiFive."""
    return _llvm(_RISCV, model, options)
