"""Functions in C for programs: clang makes LLVM's code of them."""
import os
import shutil
import subprocess
import tempfile


def find_clang(required=True):
    """The paths of clang; without it an error, or an empty list."""
    names = ["clang", *(f"clang-{version}" for version in range(30, 9, -1))]
    found = [path for path in map(shutil.which, names) if path]
    if not found and required:
        raise RuntimeError("cannot find clang, candidates are: " + str(names))
    return found


def create_llvm(inputs, output=None, options=None, cc=None):
    """The LLVM code, as text, of sources in C++ or of files of such: the annotation pragma_import_llvm takes it.

    output: a file that is written, too.
    options: more options of the compiler.
    cc: the compiler.
    """
    inputs = [inputs] if isinstance(inputs, str) else inputs
    with tempfile.TemporaryDirectory() as folder:
        sources = []
        for index, item in enumerate(inputs):
            if not os.path.exists(item):
                path = os.path.join(folder, f"input{index}.cc")
                with open(path, "w", encoding="utf8") as file:
                    file.write(item)
                item = path
            sources.append(item)
        path = output or os.path.join(folder, "output.ll")
        command = [cc or find_clang()[0], "-O3", "-emit-llvm", "-S", *(options or []), "-o", path, *sources]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"Compilation error:\n{done.stderr}")
        with open(path, encoding="utf8") as file:
            return file.read()
