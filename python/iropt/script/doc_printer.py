"""Printing of documents as Python, with lines under the parts that stand for some objects."""
import itertools

from .doc import LambdaDoc, LiteralDoc, OperationDoc, OperationKind, TupleDoc

_LAMBDA, _IF, _OR, _AND, _NOT, _COMPARISON, _BIT_OR, _BIT_XOR, _BIT_AND, _SHIFT, _ADD, _MULTIPLY, _UNARY, _POWER, _ATOM = range(15)
_TOKENS = {
    "USub": ("-", _UNARY), "Invert": ("~", _UNARY), "Not": ("not ", _NOT), "Add": ("+", _ADD), "Sub": ("-", _ADD),
    "Mult": ("*", _MULTIPLY), "Div": ("/", _MULTIPLY), "FloorDiv": ("//", _MULTIPLY), "MatMul": ("@", _MULTIPLY), "Mod": ("%", _MULTIPLY),
    "Pow": ("**", _POWER), "LShift": ("<<", _SHIFT), "RShift": (">>", _SHIFT), "BitAnd": ("&", _BIT_AND),
    "BitOr": ("|", _BIT_OR), "BitXor": ("^", _BIT_XOR), "Lt": ("<", _COMPARISON), "LtE": ("<=", _COMPARISON),
    "Eq": ("==", _COMPARISON), "NotEq": ("!=", _COMPARISON), "Gt": (">", _COMPARISON), "GtE": (">=", _COMPARISON),
    "And": ("and", _AND), "Or": ("or", _OR), "IfThenElse": ("if", _IF)}


def to_python_script(doc, indent_spaces=4, print_line_numbers=False, num_context_lines=None, path_to_underline=None):
    """The text of a document.

    Args:
        doc: the document.
        indent_spaces: the spaces of a level.
        print_line_numbers: begin lines with their numbers.
        num_context_lines: how many lines before and after underlined ones are printed; all by default.
        path_to_underline: paths of objects. What stands for the longest known prefix of one is underlined.
    """
    printer = _Printer(indent_spaces, path_to_underline or [])
    printer.print(doc)
    return underlined(printer.text(), printer.marks(), print_line_numbers, num_context_lines).rstrip()


def underlined(text, marks, print_line_numbers=False, num_context_lines=None):
    """A text with carets under the characters at the positions `marks`, and without lines that are far from them."""
    lines, numbers = text.rstrip("\n").split("\n"), len(str(text.rstrip("\n").count("\n") + 1)) + 1
    carets, start = [], 0
    for line in lines:
        indent = len(line) - len(line.lstrip(" "))
        carets.append("".join("^" if start + i in marks and i >= indent else " " for i in range(len(line) + 1)).rstrip())
        start += len(line) + 1
    shown = [True] * len(lines)
    if num_context_lines is not None and any(carets):
        near = {i + j for i, caret in enumerate(carets) if caret for j in range(-num_context_lines, num_context_lines + 1)}
        shown = [i in near for i in range(len(lines))]
    result = []
    for is_shown, group in itertools.groupby(range(len(lines)), lambda i: shown[i]):
        group = list(group)
        # The note would be as long as one line.
        if not is_shown and len(group) > 1:
            result.append(f"(... {len(group)} lines skipped ...)")
            continue
        for i in group:
            result.append((f"{i + 1} ".rjust(numbers) if print_line_numbers else "") + lines[i])
            if carets[i]:
                result.append((" " * numbers if print_line_numbers else "") + carets[i])
    return "\n".join(result)


def _precedence(doc):
    """How tightly a document binds its parts."""
    if isinstance(doc, OperationDoc):
        return _TOKENS[doc.kind.name][1]
    if isinstance(doc, LambdaDoc):
        return _LAMBDA
    if isinstance(doc, LiteralDoc) and isinstance(doc.value, (int, float)) and doc.value < 0:
        return _UNARY
    return _ATOM


class _Printer:
    """The text of a document, and where its parts are."""

    def __init__(self, indent_spaces, paths):
        self._parts, self._length, self._indent, self._spaces = [], 0, 0, indent_spaces
        self._spans = [(0, []) for _ in paths]
        self._paths, self._comments = paths, []

    def text(self):
        return "".join(self._parts)

    def marks(self):
        """The positions of the characters that are underlined. Comments are not."""
        marked, text = set(), self.text()
        for _, spans in self._spans:
            for first, last in spans:
                # A part without a text has one caret.
                marked.update([first] if first == last else (i for i in range(first, last) if text[i] != "\n"))
        for first, last in self._comments:
            marked.difference_update(range(first, last))
        return marked

    def print(self, doc):
        start = self._length
        getattr(self, "_print_" + type(doc).__name__)(doc)
        for path, index in itertools.product(doc.source_paths, range(len(self._paths))):
            longest, spans = self._spans[index]
            if len(path) >= longest and path.is_prefix_of(self._paths[index]):
                self._spans[index] = (len(path), [*(spans if len(path) == longest else []), (start, self._length)])

    def _write(self, *parts):
        for part in parts:
            if isinstance(part, str):
                self._parts.append(part)
                self._length += len(part)
            else:
                self.print(part)

    def _newline(self):
        self._write("\n", " " * self._indent)

    def _join(self, docs, separator=", "):
        for i, doc in enumerate(docs):
            self._write(*([separator] if i else []), doc)

    def _child(self, doc, least):
        """Prints an operand, in parentheses unless it binds at least as tightly."""
        if _precedence(doc) >= least:
            self.print(doc)
        else:
            self._write("(", doc, ")")

    # ---- Expressions

    def _print_LiteralDoc(self, doc):
        if isinstance(doc.value, str):
            letters = (r"\"" if letter == '"' else letter.encode("unicode_escape").decode() for letter in doc.value)
            self._write('"' + "".join(letters) + '"')
        else:
            self._write(repr(doc.value))

    def _print_IdDoc(self, doc):
        self._write(doc.name)

    def _print_AttrAccessDoc(self, doc):
        # A point after a number would be part of it.
        is_number = isinstance(doc.value, LiteralDoc) and type(doc.value.value) is int
        self._child(doc.value, _ATOM + is_number)
        self._write(".", doc.name)

    def _print_IndexDoc(self, doc):
        self._child(doc.value, _ATOM)
        self._write("[")
        self._join(doc.indices)
        self._write("]" if len(doc.indices) else "()]")

    def _print_CallDoc(self, doc):
        self._child(doc.callee, _ATOM)
        self._write("(")
        self._join(doc.args)
        for i, (key, value) in enumerate(zip(doc.kwargs_keys, doc.kwargs_values)):
            self._write(", " if i or len(doc.args) else "", key, "=", value)
        self._write(")")

    def _print_OperationDoc(self, doc):
        token, level = _TOKENS[doc.kind.name]
        count = 1 if doc.kind < OperationKind._UnaryEnd else 2 if doc.kind < OperationKind._BinaryEnd else 3
        if len(doc.operands) != count:
            raise ValueError(f"the operation {doc.kind.name} has {count} operands, not {len(doc.operands)}")
        if count == 1:
            self._write(token)
            self._child(doc.operands[0], level)
        elif count == 3:
            condition, value, other = doc.operands
            for part, word in ((value, " if "), (condition, " else "), (other, "")):
                self._child(part, _IF + 1)
                self._write(word)
        else:
            # Comparisons are not associative. A power is so to the right, where it takes signs.
            alone = doc.kind == OperationKind.Pow or level == _COMPARISON
            self._child(doc.operands[0], level + alone)
            self._write(f" {token} ")
            self._child(doc.operands[1], _UNARY if doc.kind == OperationKind.Pow else level + 1)

    def _print_LambdaDoc(self, doc):
        self._write("lambda ")
        self._join(doc.args)
        self._write(": ", doc.body)

    def _print_TupleDoc(self, doc):
        self._write("(")
        self._join(doc.elements)
        self._write(",)" if len(doc.elements) == 1 else ")")

    def _print_ListDoc(self, doc):
        self._write("[")
        self._join(doc.elements)
        self._write("]")

    def _print_DictDoc(self, doc):
        self._write("{")
        for i, (key, value) in enumerate(zip(doc.keys, doc.values)):
            self._write(", " if i else "", key, ": ", value)
        self._write("}")

    def _print_SliceDoc(self, doc):
        self._write(*([doc.start] if doc.start is not None else []), ":", *([doc.stop] if doc.stop is not None else []))
        if doc.step is not None:
            self._write(":", doc.step)

    # ---- Statements

    def _print_StmtBlockDoc(self, doc):
        for i, stmt in enumerate(doc.stmts):
            if i:
                self._newline()
            self.print(stmt)

    def _block(self, stmts, docs=None):
        self._indent += self._spaces
        if docs is not None:
            self._newline()
            self._docstring(docs)
        for stmt in stmts:
            self._newline()
            self.print(stmt)
        if not len(stmts):
            self._newline()
            self._write("pass")
        self._indent -= self._spaces

    def _docstring(self, docs):
        start = self._length
        self._write('"""')
        for line in docs.split("\n"):
            if line:
                self._newline()
            self._write(line or "\n")
        self._newline()
        self._write('"""')
        self._comments.append((start, self._length))

    def _comment(self, comment):
        """The lines of a comment before a statement."""
        start = self._length
        for i, line in enumerate(comment.split("\n") if comment else []):
            if i:
                self._newline()
            self._write(f"# {line}".rstrip())
        self._comments.append((start, self._length))

    def _comment_before(self, doc):
        if doc.comment:
            self._comment(doc.comment)
            self._newline()

    def _comment_after(self, doc):
        if doc.comment:
            if "\n" in doc.comment:
                raise ValueError(f"the comment of a {type(doc).__name__} cannot have newline")
            self._comments.append((self._length, self._length + len(doc.comment) + 4))
            self._write(f"  # {doc.comment}")

    def _target(self, doc):
        """A target of values, whose outermost tuple has no parentheses."""
        if isinstance(doc, TupleDoc) and len(doc.elements):
            self._join(doc.elements)
            self._write("," if len(doc.elements) == 1 else "")
        else:
            self.print(doc)

    def _print_AssignDoc(self, doc):
        self._target(doc.lhs)
        if doc.annotation is not None:
            self._write(": ", doc.annotation)
        if doc.rhs is not None:
            self._write(" = ")
            if isinstance(doc.rhs, TupleDoc) and len(doc.rhs.elements) > 1:
                self._join(doc.rhs.elements)
            else:
                self.print(doc.rhs)
        self._comment_after(doc)

    def _print_IfDoc(self, doc):
        self._comment_before(doc)
        self._write("if ", doc.predicate, ":")
        self._block(doc.then_branch)
        if len(doc.else_branch):
            self._newline()
            self._write("else:")
            self._block(doc.else_branch)

    def _print_WhileDoc(self, doc):
        self._comment_before(doc)
        self._write("while ", doc.predicate, ":")
        self._block(doc.body)

    def _print_ForDoc(self, doc):
        self._comment_before(doc)
        self._write("for ")
        self._target(doc.lhs)
        self._write(" in ", doc.rhs, ":")
        self._block(doc.body)

    def _print_ScopeDoc(self, doc):
        self._comment_before(doc)
        self._write("with ", doc.rhs, *([] if doc.lhs is None else [" as ", doc.lhs]), ":")
        self._block(doc.body)

    def _print_ExprStmtDoc(self, doc):
        self._write(doc.expr)
        self._comment_after(doc)

    def _print_AssertDoc(self, doc):
        self._write("assert ", doc.test, *([] if doc.msg is None else [", ", doc.msg]))
        self._comment_after(doc)

    def _print_ReturnDoc(self, doc):
        self._write("return ", doc.value)
        self._comment_after(doc)

    def _decorators(self, doc):
        for decorator in doc.decorators:
            self._write("@", decorator)
            self._newline()

    def _print_FunctionDoc(self, doc):
        self._decorators(doc)
        self._write("def ", doc.name)
        if doc.type_params:
            self._write("[")
            self._join(doc.type_params)
            self._write("]")
        self._write("(")
        self._join(doc.args)
        self._write(")", *([] if doc.return_type is None else [" -> ", doc.return_type]), ":")
        self._block(doc.body, doc.comment)
        self._write("\n")

    def _print_ClassDoc(self, doc):
        self._decorators(doc)
        self._write("class ", doc.name, ":")
        self._block(doc.body, doc.comment)

    def _print_CommentDoc(self, doc):
        self._comment(doc.comment)

    def _print_DocStringDoc(self, doc):
        if doc.comment:
            self._docstring(doc.comment)

