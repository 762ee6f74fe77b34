"""Shared objects whose data is a file: a module that was built."""
import _ctypes
import ctypes
import os
import shutil
import subprocess
import tempfile

# The data is between two symbols; its size is a number that programs can read.
_ASSEMBLY = """    .data
    .globl {prefix}iropt_module
    .globl {prefix}iropt_module_size
    .balign 8
{prefix}iropt_module_size:
    .quad {prefix}iropt_module_end - {prefix}iropt_module
{prefix}iropt_module:
    .incbin "data"
{prefix}iropt_module_end:
"""


def _compiler(given):
    return given or os.environ.get("CC") or next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)


def write(path, data, compiler=None):
    """Writes the data, in a shared object if the name says so and a compiler is found."""
    compiler = _compiler(compiler) if path.endswith((".so", ".dylib")) else None
    # Who has loaded the file that is replaced keeps that one.
    if os.path.lexists(path):
        os.remove(path)
    if compiler is None:
        with open(path, "wb") as file:
            file.write(data)
        return
    path = os.path.abspath(path)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "data"), "wb") as file:
            file.write(data)
        is_mac = path.endswith(".dylib")
        stack = "" if is_mac else '    .section .note.GNU-stack,"",@progbits\n'
        with open(os.path.join(folder, "module.s"), "w", encoding="ascii") as file:
            file.write(_ASSEMBLY.format(prefix="_" if is_mac else "") + stack)
        done = subprocess.run([compiler, "-shared", "-nostdlib", "-o", path, "module.s"], cwd=folder, capture_output=True, text=True,
                              check=False)
    if done.returncode:
        raise RuntimeError(f"{compiler} cannot make the shared object {path}:\n{done.stderr}")


def read(path):
    """The data of a file or of a shared object."""
    with open(path, "rb") as file:
        data = file.read()
    if not data.startswith((b"\x7fELF", b"\xcf\xfa\xed\xfe")):
        return data
    try:
        library = ctypes.CDLL(os.path.abspath(path))
    except OSError:
        return b""
    try:
        size = ctypes.c_uint64.in_dll(library, "iropt_module_size").value
        return (ctypes.c_char * size).in_dll(library, "iropt_module").raw
    except ValueError:
        return b""
    finally:
        # What stays loaded is found by its path, even if the file is another one then.
        _ctypes.dlclose(library._handle)
