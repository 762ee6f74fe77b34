#!/usr/bin/env python3
"""Optimizes many modules by examples/many, with an installed ir-opt: under Ninja and by the shell script.

  many_modules.py --prefix=FOLDER --work=FOLDER [--number=N] [--layers=N]

Kills builds at a random time, goes on, and compares with what ir-opt makes of each module alone; then builds again with
the results of a cache, by several processes. Prints the times of the builds with an empty and with a full cache. Exits
with 1, saying what is wrong, or with 0.
"""
import argparse
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time


class Failure(Exception):
    pass


def run(*command, **kwargs):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, **kwargs)
    if done.returncode != 0:
        raise Failure(f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


def kill_early(command, **kwargs):
    """Starts a command and kills it, with all that it started, after a moment."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True, **kwargs) as process:
        time.sleep(0.15)
        os.killpg(process.pid, signal.SIGKILL)


class ManyModules:
    def __init__(self, prefix, work, number, layers):
        self.prefix = pathlib.Path(prefix).resolve()
        self.work = pathlib.Path(work).resolve()
        self.example = self.prefix / "share/doc/ir-opt/examples/many"
        self.ir_opt = self.prefix / "bin/ir-opt"
        shutil.rmtree(self.work, ignore_errors=True)
        self.modules = self.work / "modules"
        run(sys.executable, self.example / "make_modules.py", self.modules, number, layers)
        self.names = sorted(path.name for path in self.modules.iterdir())

    def expect_same(self, folder):
        """All modules, and those of the first build."""
        reference = self.work / "reference"
        if not reference.exists():
            reference.mkdir()
            for name in self.names[:10]:
                run(self.ir_opt, "-O3", self.modules / name, "-o", reference / name)
        found = sorted(path.name for path in folder.iterdir() if path.suffix == ".ir")
        if found != self.names:
            raise Failure(f"{folder} has {len(found)} modules, not {len(self.names)}")
        for name in self.names[:10]:
            if (folder / name).read_bytes() != (reference / name).read_bytes():
                raise Failure(f"{folder / name} is not what ir-opt -O3 makes")

    def configure(self, name, *flags):
        build = self.work / name
        run("cmake", "-G", "Ninja", "-S", self.example, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DMODULES={self.modules}", *flags)
        return build

    def check_ninja(self):
        build = self.configure("interrupted")
        kill_early(["ninja", "-C", build])
        run("ninja", "-C", build)
        self.expect_same(build / "optimized")
        # A changed module is made again, and nothing else.
        first = self.modules / self.names[0]
        text = first.read_text()
        first.write_text(text + "\n")
        steps = [line for line in run("ninja", "-C", build).splitlines() if "ir-opt m" in line]
        if len(steps) != 1 or self.names[0] not in steps[0]:
            raise Failure(f"after a change of {self.names[0]}, these steps are made again: {steps}")
        first.write_text(text)

    def check_cache(self):
        """The seconds of a build with an empty cache, and of one that takes all from it."""
        flag = f"-DIROPT_CACHE_DIR={self.work / 'cache'}"
        times = []
        entries = []
        for name in ("first", "second"):
            build = self.configure(name, flag)
            begin = time.perf_counter()
            run("ninja", "-C", build)
            times.append(time.perf_counter() - begin)
            self.expect_same(build / "optimized")
            # A result that was not found would have replaced its file.
            entries.append({(path.name, path.stat().st_ino) for path in (self.work / "cache").rglob("*.run")})
        if len(entries[0]) != len(self.names) or entries[0] != entries[1]:
            raise Failure("the second build did not take all results from the cache")
        return times

    def check_script(self):
        """Two tasks as of Slurm, one of which is killed and repeated."""
        manifest = self.work / "manifest.txt"
        manifest.write_text("".join(f"{self.modules / name}\n" for name in self.names))
        output = self.work / "by_script"

        def task(number):
            environment = dict(os.environ, IR_OPT=str(self.ir_opt), SLURM_ARRAY_TASK_ID=str(number),
                               SLURM_ARRAY_TASK_COUNT="2")
            return dict(args=[self.example / "run.sh", manifest, output, "2"], env=environment)

        first = task(0)
        kill_early(first["args"], env=first["env"])
        for number in (0, 1):
            again = task(number)
            run(*again["args"], env=again["env"])
        self.expect_same(output)

    def check(self):
        self.check_ninja()
        self.check_script()
        first, second = self.check_cache()
        print(f"{len(self.names)} modules: {first:.2f} s, from the cache {second:.2f} s, {second / first:.3f} of it")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prefix", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--number", type=int, default=1000)
    parser.add_argument("--layers", type=int, default=200)
    options = parser.parse_args()
    try:
        ManyModules(options.prefix, options.work, options.number, options.layers).check()
    except Failure as failure:
        print(failure)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
