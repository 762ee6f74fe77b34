"""What this package is, for reports of bugs."""
import platform


def libinfo():
    """The version and what the library was built with, as a dictionary of texts."""
    from . import __version__

    return {"IROPT_VERSION": __version__, "USE_CUDA": "OFF", "USE_LLVM": "OFF", "USE_RPC": "OFF"}


def describe():
    """Prints the versions of Python, of the package and of the system."""
    print("Python Environment")
    print(f"  iropt version  = {libinfo()['IROPT_VERSION']}")
    print(f"  Python version = {platform.python_version()} ({platform.architecture()[0]})")
    print(f"  os.uname()     = {' '.join(platform.uname())}")
