"""Places where C++ sources can be changed, and sources that hold all changes at once.

The places come from libclang (python3-clang-14). `Schema` writes a source in which each mutant is switched on by its number
at run time (mutant schemata, Untch, Offutt and Harrold 1993), so that a folder is compiled once for all its mutants:

  a < b        an operator: a call of a lambda that chooses
  a && b       a conditional expression, so that the second operand is evaluated where it was
  if (c)       if (Is(1) || (!Is(2) && c))
  3, true      Is(1) ? 4 : 3
  f(x);        Is(1) ? void() : void(f(x));

What a compiler evaluates is not changed: the conditions of `if constexpr` and `static_assert`, constants, labels of cases,
arguments of templates.
"""
import dataclasses
import re
import sys

OPERATORS = {
    "<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"], "&&": ["||"], "||": ["&&"],
    "&": ["|"], "|": ["&"], "+=": ["-="], "-=": ["+="], "|=": ["&="], "&=": ["|="],
}
NAMESPACE = "::iropt_mutation"
# Read by programs under test: the number of the mutant, or "record:FILE" to append the numbers that were reached.
VARIABLE = "IROPT_MUTANT"
HEADER = """\
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

namespace iropt_mutation {
class State {
 public:
  State() {
    const char* text = std::getenv("IROPT_MUTANT");
    if (text == nullptr) return;
    if (std::strncmp(text, "record:", 7) == 0) {
      file_ = text + 7;
    } else {
      active = std::atoi(text);
    }
  }
  ~State() {
    if (file_.empty()) return;
    std::string text;
    for (int i = 0; i < kLimit; ++i) {
      if (reached[i].load(std::memory_order_relaxed)) text += std::to_string(i) + "\\n";
    }
    int file = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644);
    if (file < 0 || ::write(file, text.data(), text.size()) < 0) std::abort();
    ::close(file);
  }

  static constexpr int kLimit = @LIMIT@;
  int active = 0;
  std::atomic<bool> reached[kLimit] = {};

 private:
  std::string file_;
};

inline State& GetState() {
  static State state;
  return state;
}

/// Whether the mutant is switched on.
constexpr bool Is(int mutant) {
  if (std::is_constant_evaluated()) return false;
  State& state = GetState();
  state.reached[mutant].store(true, std::memory_order_relaxed);
  return state.active == mutant;
}
}  // namespace iropt_mutation
"""


@dataclasses.dataclass(frozen=True, order=True)
class Mutant:
    file: str
    begin: int  # offsets in characters
    end: int
    text: str  # what replaces the source there

    def describe(self, source):
        line = source.count("\n", 0, self.begin) + 1
        old = " ".join(source[self.begin:self.end].split())
        return f"{self.file}:{line}: `{old}` -> `{self.text or 'nothing'}`"


@dataclasses.dataclass
class Place:
    """An expression with its mutants, and how the source becomes one that chooses: edits are (offset, end, function of the
    numbers of the mutants), in the order of the tree."""
    begin: int
    end: int
    mutants: list
    edits: list


def load_clang():
    """The module clang.cindex, or None. Debian has it for its own Python alone, but any Python can load it."""
    for path in [None, "/usr/lib/python3/dist-packages"]:
        try:
            if path:
                sys.path.append(path)
            import clang.cindex as cindex
            cindex.Index.create()
            return cindex
        except (ImportError, OSError, AttributeError):
            continue
    return None


def is_all(numbers, form):
    """An expression of the numbers of mutants."""
    return form.format(*(f"{NAMESPACE}::Is({number})" for number in numbers))


class Finder:
    """Finds the places of one source."""

    def __init__(self, cindex, name, source):
        self.kinds = cindex.CursorKind
        self.name = name
        self.source = source
        self.data = source.encode()
        self.places = []
        # Offsets of libclang are bytes.
        self.character = None if len(self.data) == len(source) else self.characters()

    def characters(self):
        table = []
        for i, character in enumerate(self.source):
            table += [i] * len(character.encode())
        return table + [len(self.source)]

    def extent(self, cursor):
        begin, end = cursor.extent.start.offset, cursor.extent.end.offset
        return (begin, end) if self.character is None else (self.character[begin], self.character[end])

    def find(self, unit):
        for cursor in unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == unit.spelling:
                self.visit(cursor, None)
        return self.places

    def visit(self, cursor, parent):
        kinds = self.kinds
        kind = cursor.kind
        children = list(cursor.get_children())
        if self.is_constant(cursor):
            return
        statements = (kinds.COMPOUND_STMT, kinds.IF_STMT, kinds.FOR_STMT, kinds.CXX_FOR_RANGE_STMT, kinds.CASE_STMT)
        if parent is not None and parent.kind in statements:
            self.call(cursor)
        if kind == kinds.CASE_STMT:
            children = children[1:]
        elif kind == kinds.IF_STMT:
            self.condition(cursor, children)
            if self.head(cursor).startswith("if constexpr"):
                children = children[1:]
        elif kind in (kinds.BINARY_OPERATOR, kinds.COMPOUND_ASSIGNMENT_OPERATOR):
            self.operator(cursor, children)
        elif kind == kinds.CALL_EXPR and cursor.spelling.startswith("operator") and len(children) == 3:
            self.operator(cursor, [children[0], children[2]])
        elif kind == kinds.UNARY_OPERATOR:
            self.negation(cursor)
        elif kind == kinds.INTEGER_LITERAL:
            self.integer(cursor)
        elif kind == kinds.CXX_BOOL_LITERAL_EXPR:
            self.boolean(cursor)
        for child in children:
            self.visit(child, cursor)

    def head(self, cursor):
        begin, _ = self.extent(cursor)
        return self.source[begin:begin + 14]

    def is_constant(self, cursor):
        kinds = self.kinds
        if cursor.kind in (kinds.STATIC_ASSERT, kinds.ENUM_DECL):
            return True
        if cursor.kind in (kinds.VAR_DECL, kinds.FIELD_DECL):
            begin, end = self.extent(cursor)
            return "constexpr" in re.split(r"[=({]", self.source[begin:end])[0]
        return False

    def add(self, begin, end, texts, edits, at=None):
        """`at`: what the mutants replace, if that is not the whole expression."""
        first, last = at or (begin, end)
        mutants = [Mutant(self.name, first, last, text) for text in texts]
        self.places.append(Place(begin, end, mutants, edits))

    def operator(self, cursor, children):
        begin, end = self.extent(cursor)
        if len(children) != 2:
            return
        left, right = self.extent(children[0]), self.extent(children[1])
        between = self.source[left[1]:right[0]]
        # Parentheses around an operand are not part of it.
        match = re.fullmatch(r"[\s)]*(\S+?)[\s(]*", between)
        if not match or match.group(1) not in OPERATORS or left[0] < begin or right[1] > end:
            return
        old = match.group(1)
        at = left[1] + match.start(1), left[1] + match.end(1)
        new = OPERATORS[old]
        if old in ("&&", "||"):
            if cursor.kind != self.kinds.BINARY_OPERATOR:
                return
            # The second operand is evaluated if the first one is true (&&) or false (||), which a mutant turns around.
            is_and = old == "&&"
            edits = [(begin, begin, lambda n: is_all(n, "(({0} != " if is_and else "(({0} == ") + "static_cast<bool>("),
                     (at[0], at[1], lambda n: ")) ? static_cast<bool>("),
                     (end, end, lambda n: is_all(n, ") : {0})" if is_and else ") : !{0})"))]
        else:
            assign = old.endswith("=") and old not in ("==", "!=", "<=", ">=")

            def choose(numbers):
                chain = "".join(is_all([number], "{0} ? ") + f"(l {text} r) : " for number, text in zip(numbers, new))
                result = "decltype(auto)" if assign else "auto"
                return f"[](auto&& l, auto&& r) -> {result} {{ return {chain}(l {old} r); }}("
            edits = [(begin, begin, choose), (at[0], at[1], lambda n: ","), (end, end, lambda n: ")")]
        self.add(begin, end, new, edits, at)

    def condition(self, cursor, children):
        begin, _ = self.extent(cursor)
        if not children or children[0].kind in (self.kinds.VAR_DECL, self.kinds.DECL_STMT):
            return
        match = re.match(r"if\s*\(", self.source[begin:])
        if not match:
            return
        # With an initialization, the condition is the second child.
        first, last = self.extent(children[0])
        opened = begin + match.end()
        closed = self.closing(opened - 1)
        inner = self.source[opened:closed]
        if self.source[opened:first].strip(" (\n") or ";" in inner or self.source[last:closed].strip(" )\n"):
            return
        edits = [(opened, opened, lambda n: is_all(n, "{0} || (!{1} && static_cast<bool>(")), (closed, closed, lambda n: "))")]
        self.add(opened, closed, ["true", "false"], edits)

    def closing(self, begin):
        """The offset of the parenthesis that closes the one at `begin`."""
        depth = 0
        for match in re.finditer(r"[()]|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])'", self.source[begin:]):
            depth += {"(": 1, ")": -1}.get(match.group(), 0)
            if depth == 0:
                return begin + match.start()
        return len(self.source)

    def negation(self, cursor):
        begin, end = self.extent(cursor)
        if self.source[begin:begin + 1] != "!":
            return
        edits = [(begin, begin + 1, lambda n: is_all(n, "({0} == static_cast<bool>(")), (end, end, lambda n: "))")]
        self.add(begin, end, [self.source[begin + 1:end]], edits)

    def integer(self, cursor):
        begin, end = self.extent(cursor)
        text = self.source[begin:end]
        is_argument = self.source[begin - 1:begin] == "<" or self.source[end:end + 1] == ">"
        if not re.fullmatch(r"\d+", text) or is_argument:
            return
        more = str(int(text) + 1)
        self.add(begin, end, [more], [(begin, end, lambda n: is_all(n, "({0} ? ") + f"{more} : {text})")])

    def boolean(self, cursor):
        begin, end = self.extent(cursor)
        new = {"true": "false", "false": "true"}.get(self.source[begin:end])
        if new and self.source[begin - 1:begin] != "<" and self.source[end:end + 1] != ">":
            form = "(!{0})" if new == "false" else "{0}"
            self.add(begin, end, [new], [(begin, end, lambda n: is_all(n, form))])

    def call(self, cursor):
        """A statement that calls a function, but for those that only check or that print to a debug channel."""
        begin, end = self.extent(cursor)
        text = self.source[begin:end]
        if cursor.kind not in (self.kinds.CALL_EXPR, self.kinds.UNEXPOSED_EXPR) or self.source[end:end + 1] != ";":
            return
        if not self.source[:begin].rstrip().endswith((";", "{", "}", ")", ":", "else")):
            return
        if re.match(r"[A-Z_]+\b", text) or "(" not in text:
            return
        edits = [(begin, begin, lambda n: is_all(n, "{0} ? void() : void(")), (end, end, lambda n: ")")]
        self.add(begin, end, [""], edits)


def find_places(cindex, path, name, source, arguments):
    """The places of the file at `path`, called `name` in messages, that is compiled with the arguments."""
    unit = cindex.Index.create().parse(str(path), args=arguments)
    errors = [str(item) for item in unit.diagnostics if item.severity >= cindex.Diagnostic.Error]
    if errors:
        sys.exit(f"clang does not read {name}:\n" + "\n".join(errors[:5]))
    return Finder(cindex, name, source).find(unit)


class Schema:
    """A source with all mutants of its places. Those of the place i have the numbers `numbers[i]`."""

    def __init__(self, source, places, numbers, header):
        self.source = source
        self.header = header
        self.places = places
        self.numbers = numbers
        self.owners = []  # (begin, end, place) in the text that render() gives

    def render(self, dropped):
        """The text, without the places of which the indices are in `dropped`. Lines stay where they were."""
        events = []
        for index, place in enumerate(self.places):
            if index in dropped:
                continue
            for step, (begin, end, text) in enumerate(place.edits):
                # What begins at an offset comes after what ends there. Of those that begin, the outer one is first, of those
                # that end, the inner one; a tree is visited from outside.
                is_end = step == len(place.edits) - 1 and step > 0
                key = (begin, 0 if is_end else 1, -index if is_end else index)
                events.append((key, begin, end, text(self.numbers[index]), index))
        parts, length, position = [], 0, 0
        self.owners = []
        prologue = f'#include "{self.header}"\n#line 1\n'
        for _, begin, end, text, index in sorted(events, key=lambda event: event[0]):
            parts += [self.source[position:begin], text]
            length += begin - position
            self.owners.append((length, length + len(text), index))
            length += len(text)
            position = max(position, end)
        parts.append(self.source[position:])
        self.text = "".join(parts)
        return prologue + self.text

    def places_at(self, line, column):
        """The places that an error of the compiler at a line and column, from 1, can be about."""
        lines = self.text.split("\n")
        if not 1 <= line <= len(lines):
            return set()
        start = sum(len(text) + 1 for text in lines[:line - 1])
        offset = start + column - 1
        exact = {index for begin, end, index in self.owners if begin <= offset < end}
        stop = start + len(lines[line - 1])
        return exact or {index for begin, end, index in self.owners if start <= begin <= stop}
