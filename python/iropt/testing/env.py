"""What the machine has for tests of devices: nothing but a processor."""


def _has(name, result, doc):
    def function(*args, **kwargs):
        del args, kwargs
        return result

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


_DEVICES = ("cuda", "rocm", "vulkan", "metal", "opencl", "gpu", "multi_gpu", "hexagon", "adreno_opencl", "matrixcore", "cudagraph")
_LIBRARIES = ("cudnn", "cublas", "nccl", "hipblas", "nvshmem", "nvptx", "cuda_compute", "nvcc_version", "hexagon_toolchain",
              "llvm", "llvm_min_version", "cpu_feature", "x86_vnni", "x86_avx512")

globals().update({f"has_{name}": _has(f"has_{name}", False, f"Returns whether there is a device of the kind {name}: never.")
                  for name in _DEVICES})
globals().update({f"has_{name}": _has(f"has_{name}", False, f"Returns whether {name} generates code here or is linked: never.")
                  for name in _LIBRARIES})
build_flag_enabled = _has("build_flag_enabled", False, "Returns whether TVM was built with a flag: never.")
