#!/usr/bin/env python3
"""Checks the layers: includes point downwards only, CMake links what is included, documents list the areas, operators are
named by OpId where no text is read, few sources depend on all operators, comments of public headers stand alone, words are those
of the field, neither headers nor modules of the Python package include each other in circles, and no file is too long.

  check_layering.py [ROOT]

Prints one line per violation and exits with 1 if there is any.
"""
import ast
import os
import re
import sys

# From the bottom up: an area includes only areas before it.
LAYERS = ["support", "diag", "ir", "op", "arith", "runtime", "infer", "analysis", "data", "eval", "text", "exchange", "pass",
          "legalize", "schedule", "transform", "codegen", "observe", "execution", "semantics", "precision", "driver", "reduce",
          "lsp"]
LEVEL = {area: level for level, area in enumerate(LAYERS)}
# Includes that the order would allow but the design does not: only driver connects text and pass.
FORBIDDEN = {("pass", "text"): "text and pass do not know each other",
             ("transform", "text"): "a pass works on the IR, never on its text"}
# Libraries that are restricted to some places: the place is the first folder, then the area.
LIBRARIES = {"CLI/": {"tools"}, "nlohmann/": {"tools", "data", "diag", "text", "pass", "observe", "driver", "exchange", "lsp"}, "rapidjson/": {"support"}, "archive": {"data"},
             "llvm/": {"codegen"}, "protozero/": {"exchange"}}
# The folders whose includes are checked. Tools and examples may use all public headers.
CHECKED = ("include", "lib", "tools", "examples")
LONGEST_FILE = 600
SOURCES = (".h", ".cpp", ".cc", ".py", ".sh", ".cmake", ".def")
# The areas that documents list in the order of the layers: the list, and a name in it.
LISTED_AREAS = {"docs/architecture.md": (re.compile(r"(?:^\| `\w+` \|[^\n]*\n)+", re.MULTILINE), re.compile(r"^\| `(\w+)`", re.MULTILINE))}
AREA = re.compile(r"^iropt_add_area\((\w+)(?:\s+DEPS\s+([^()]*?))?(?:\s+(?:LIBRARIES|OPTIONS|UNITY_BYTES)[^()]*)?\)", re.MULTILINE)
# A format that is a shared object, whose row alone belongs to the area exchange.
FORMAT = re.compile(r"^iropt_add_format\((\w+)(?:\s+DEPS\s+([^()]*?))?\)", re.MULTILINE)
FORMAT_ROW = "lib/exchange/{}/row.cpp"
OPERATOR_ROW = re.compile(r"^IROPT_(?!ATTRS|OP_FAMILY)\w+\(\w+,\s*([\w.]+),", re.MULTILINE)
OPERATOR_NAME = re.compile(r'"(?:relax|tir)\.([\w.]+)"')
# What names all operators, and the sources that are compiled again for each new one.
OPERATOR_TABLES = ("iropt/op/ops.def", "iropt/op/ops/all.h")
TABLE_SOURCES = ("lib/infer/type_rules.cpp", "lib/infer/layout_rules.cpp", "lib/eval/evaluator.cpp", "lib/legalize/legalizations.cpp")
# Areas that read and write text name operators by strings.
NAMED_OPERATORS = ("lib/text", "include/iropt/text", "lib/op", "include/iropt/op")
# The beginnings of comments that are clauses, or refer to the declaration before: they say nothing in a hover.
DEPENDENT_COMMENT = re.compile(r"\s*// (What|Which|Whether|Where|How|The same|Likewise|As above)\b")
# Words that stand for usual ones: a part of each, which is fast to look for, where it is one, and the usual word.
WORDS = {
    "'beside'": ("eside", r"(?<![.\w])[Bb]eside\b|[a-z]Beside\b", "'next to' or 'compared with'"),
    "'fault'": ("ault", r"(?<!page )(?<![A-Za-z])[Ff]ault(?:y|s)?(?![a-z])|(?<=[a-z])Fault(?:y|s)?(?![a-z])", "'bug', 'failure' or 'wrong'"),
    "'anew'": ("anew", r"\banew\b", "'again' or 'from the start'"),
    "'for ever'": ("for ever", r"\bfor ever\b", "'forever'"),
    "'no more'": (" no more", r"\b(?:exists?|is|are) no more\b(?! than)", "'no longer' or 'removed'"),
    "'for now'": ("for now", r"\bfor now\b", "when it ends, or nothing"),
    "'in the place of'": ("the place of", r"\bin the place of\b", "'instead of' or 'in place of'"),
    "'end the run'": ("end the run", r"\bend the run\b", "'abort'"),
    "'names alone'": ("alone", r"\bnames(?: of variables)? alone\b", "'only names'"),
    "'is none'": (" none", r"\b(?:is|are) none\b", "'is not one'"),
    "'is no'": (" no ", r"\b(?:is|are) no (?!longer|more)[a-z]", "'is not a'"),
    "'products of matrices'": ("of matrices", r"\b[Pp]roducts? of matrices\b", "'matmul' or 'matrix product'")}
WORDED = (*CHECKED, "test", "bench", "scripts", "cmake", "python", "docs")
WORDED_FILES = (*SOURCES, ".md", ".ir", ".test", ".relay", ".txt", ".js", ".html")
# What others wrote, what was written before, and what lists the words.
NOT_WORDED = ("test/mutants", "test/data", "test/recorded", "scripts/check_layering.py", "test/tools/check_layering_test.py")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def files_below(root, *folders, endings=SOURCES):
    for folder in folders:
        for base, dirs, names in os.walk(os.path.join(root, folder)):
            dirs.sort()
            for name in sorted(names):
                if name.endswith(endings) or name == "CMakeLists.txt":
                    yield os.path.relpath(os.path.join(base, name), root)


def area_of(path):
    parts = path.split(os.sep)
    if parts[0] == "lib":
        return parts[1]
    if parts[:2] == ["include", "iropt"]:
        return parts[2]
    return None


def format_of(path):
    """The format whose folder has the file, or None."""
    parts = path.split(os.sep)
    return parts[2] if parts[:2] == ["lib", "exchange"] and len(parts) > 3 else None


class Layering:
    def __init__(self, root):
        self.root = root
        self.problems = []
        self.uses = {}  # area -> {area: first place}
        self.headers = {}  # header -> {header that it includes: line}
        self.operators = self.read_operators()

    def report(self, path, line, message):
        self.problems.append(f"{path}:{line}: {message}")

    def read_operators(self):
        """The names of the rows of the operator tables, some of which leave out a first part such as "nn."."""
        names = set()
        for path in files_below(self.root, "include/iropt/op"):
            if path.endswith(".def"):
                with open(os.path.join(self.root, path), encoding="utf-8") as f:
                    names.update(OPERATOR_ROW.findall(f.read()))
        return names

    def check(self):
        for path in files_below(self.root, *CHECKED, "test", "bench", "scripts", "cmake"):
            with open(os.path.join(self.root, path), encoding="utf-8") as f:
                lines = f.read().splitlines()
            if len(lines) > LONGEST_FILE and not path.endswith(".def"):
                self.report(path, LONGEST_FILE + 1, f"{len(lines)} lines, more than {LONGEST_FILE}")
            if path.endswith((".h", ".cpp", ".def")) and path.split(os.sep)[0] in CHECKED:
                self.check_includes(path, lines)
            if path.endswith((".h", ".cpp")) and path.split(os.sep)[0] in ("include", "lib", "tools"):
                self.check_operator_names(path, lines)
            if path.endswith((".h", ".def")) and path.startswith("include"):
                self.check_comments(path, lines)
        top = (name for name in sorted(os.listdir(self.root)) if name.endswith(WORDED_FILES))
        for path in (*top, *files_below(self.root, *WORDED, endings=WORDED_FILES)):
            if not path.startswith(NOT_WORDED):
                self.check_words(path)
        self.check_cmake()
        self.check_python()
        self.check_circles(self.headers, str)
        return self.problems

    def check_includes(self, path, lines):
        area = area_of(path)
        if area is not None and area not in LEVEL:
            self.report(path, 1, f"'{area}' is not an area")
            return
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match:
                self.check_include(path, number, area, match[1] == '"', match[2])
                if path.endswith(".h") and match[1] == '"':
                    self.headers.setdefault(path, {})[self.header_of(path, match[2])] = number

    def header_of(self, path, target):
        """The file that a source of the repository includes by this name."""
        places = (os.path.join(os.path.dirname(path), target), os.path.join("include", target), os.path.join("lib", target),
                  os.path.join("tools", target))
        return next((place for place in places if os.path.exists(os.path.join(self.root, place))), target)

    def check_include(self, path, number, area, quoted, target):
        if quoted and ("../" in target or target.startswith(("lib/", "include/"))):
            self.report(path, number, f"'{target}' reaches into another folder; public headers are 'iropt/AREA/NAME.h'")
        for prefix, places in LIBRARIES.items():
            if target.startswith(prefix) and (area or path.split(os.sep)[0]) not in places:
                self.report(path, number, f"'{target}' stays in {', '.join(sorted(places))}")
            if target.startswith(prefix) and path.startswith("include"):
                self.report(path, number, f"'{target}' in a public header")
        if target in OPERATOR_TABLES and path not in TABLE_SOURCES:
            self.report(path, number, f"'{target}' makes it depend on all operators; include the families that it uses")
        folders = target.split("/")
        own = format_of(path)
        if quoted and own and folders[0] == "exchange" and folders[1] != own:
            self.report(path, number, f"'{target}' is a private header of another format")
        if area is None:
            if quoted and folders[0] in LEVEL and len(folders) > 1:
                self.report(path, number, f"'{target}' is a private header; programs include 'iropt/AREA/NAME.h'")
            return
        if quoted and folders[0] in LEVEL and folders[0] != area and len(folders) > 1:
            self.report(path, number, f"'{target}' is a private header of another area")
        if folders[0] != "iropt" or folders[1] == area:
            return
        used = folders[1]
        if used not in LEVEL:
            self.report(path, number, f"'{used}' is not an area")
        elif LEVEL[used] > LEVEL[area]:
            self.report(path, number, f"{area} must not include {used}, which lies above it")
        elif (area, used) in FORBIDDEN:
            self.report(path, number, f"{area} must not include {used}: {FORBIDDEN[area, used]}")
        else:
            self.uses.setdefault(self.library_of(path, area), {}).setdefault(used, f"{path}:{number}")

    def library_of(self, path, area):
        """The area, or the format that is a shared object."""
        name = format_of(path)
        row = FORMAT_ROW.format(name)
        return f"exchange/{name}" if name and path != row and os.path.exists(os.path.join(self.root, row)) else area

    def check_comments(self, path, lines):
        """Checks the first lines of comments, apart from comments behind code."""
        before = ""
        for number, line in enumerate(lines, 1):
            match = DEPENDENT_COMMENT.match(line)
            begins = not before.lstrip().startswith("//") or before.lstrip().startswith("// ----")
            if match and begins:
                self.report(path, number, f"the comment begins with '{match[1]}': say what a function does or returns "
                            "('Returns whether ...'), or what a type or member is")
            before = line

    def check_words(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as f:
            text = f.read()
        for word, (part, pattern, usual) in WORDS.items():
            for match in re.finditer(pattern, text) if part in text else ():
                before = text[max(0, match.start() - 40):match.start()].rstrip(" \t\n/#")
                if not (word.startswith("'is ") and before.lower().endswith("there")):
                    self.report(path, text.count("\n", 0, match.start()) + 1, f"{word}: write {usual}")

    def check_operator_names(self, path, lines):
        if path.startswith(NAMED_OPERATORS):
            return
        for number, line in enumerate(lines, 1):
            for name in OPERATOR_NAME.findall(line.split("//")[0]):
                is_operator = name in self.operators or name.partition(".")[2] in self.operators
                is_prefix = name.endswith(".") and any(o.startswith(name) for o in self.operators)
                if is_operator or is_prefix:
                    self.report(path, number, f"operator '{name}' is named by text; compare its OpId (iropt/op/op_id.h)")

    def check_cmake(self):
        """Checks that CMake links an area to exactly the areas whose headers it includes."""
        path = "CMakeLists.txt"
        if not os.path.exists(os.path.join(self.root, path)):
            return
        with open(os.path.join(self.root, path), encoding="utf-8") as f:
            text = f.read()
        libraries = [(match, match[1]) for match in AREA.finditer(text)]
        libraries += [(match, f"exchange/{match[1]}") for match in FORMAT.finditer(text)]
        for match, area in libraries:
            dependencies = (match[2] or "").split()
            line = text.count("\n", 0, match.start()) + 1
            named = {d for d in dependencies if "::" not in d}
            used = self.uses.get(area, {})
            for missing in sorted(used.keys() - named, key=LEVEL.get):
                self.report(path, line, f"{area} does not name {missing}, which {used[missing]} includes")
            for unused in sorted(named - used.keys()):
                self.report(path, line, f"{area} names {unused}, of which it includes nothing")
        self.check_documents([area for area in LAYERS if os.path.isdir(os.path.join(self.root, "lib", area))])

    def check_python(self):
        """Checks that what modules of the package import as they are imported has no circles; functions may import what is above."""
        modules = {}
        for path in files_below(self.root, "python/iropt"):
            if path.endswith(".py"):
                name = path[len("python/"):-len(".py")].replace(os.sep, ".")
                modules[name.removesuffix(".__init__")] = path
        self.check_circles({name: dict(self.imports_of(name, path, modules)) for name, path in modules.items()}, modules.get)

    def check_circles(self, uses, path_of):
        """Reports circles of files: `uses` has the lines where each names others."""
        done, on_way = set(), []

        def visit(name):
            if name in on_way:
                user = on_way[-1]
                circle = on_way[on_way.index(name):] + [name]
                self.report(path_of(user), uses[user][name], f"these need each other: {', '.join(circle)}")
            if name in done:
                return
            done.add(name)
            on_way.append(name)
            for used in uses.get(name, {}):
                visit(used)
            on_way.pop()

        for name in sorted(uses):
            visit(name)

    def imports_of(self, name, path, modules):
        """The modules of the package that a module imports outside of functions, with the lines."""
        with open(os.path.join(self.root, path), encoding="utf-8") as f:
            pending = [ast.parse(f.read())]
        package = name.split(".") if path.endswith("__init__.py") else name.split(".")[:-1]
        while pending:
            node = pending.pop()
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                continue
            pending.extend(ast.iter_child_nodes(node))
            if isinstance(node, ast.Import):
                targets = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                outer = package[:len(package) - node.level + 1] if node.level else []
                base = ".".join(outer + ([node.module] if node.module else []))
                targets = [f"{base}.{alias.name}" if f"{base}.{alias.name}" in modules else base for alias in node.names]
            else:
                continue
            # The extension module is part of the package itself.
            yield from ((target, node.lineno) for target in targets if target in modules and target not in (name, "iropt"))

    def check_documents(self, areas):
        """Checks that documents list the folders of lib in the order of the layers."""
        for path, (place, area) in LISTED_AREAS.items():
            if not os.path.exists(os.path.join(self.root, path)):
                continue
            with open(os.path.join(self.root, path), encoding="utf-8") as f:
                text = f.read()
            match = place.search(text)
            if not match or area.findall(match[0]) != areas:
                line = text.count("\n", 0, match.start()) + 1 if match else 1
                self.report(path, line, f"expected the areas of lib: {', '.join(areas)}")


def check(root):
    return Layering(root).check()


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    problems = check(root)
    print("\n".join(problems) if problems else "layering: no violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
