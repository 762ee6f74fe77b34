"""Documents of the printer of scripts, and paths of objects."""
import pytest

from iropt.runtime import ObjectPath
from iropt.script.doc import (AssignDoc, ClassDoc, DictDoc, ExprStmtDoc, ForDoc, FunctionDoc, IdDoc, IfDoc, LambdaDoc, LiteralDoc,
                              OperationDoc, OperationKind, ReturnDoc, SliceDoc, StmtBlockDoc, TupleDoc)
from iropt.script.doc_printer import to_python_script

X, Y, Z = IdDoc("x"), IdDoc("y"), IdDoc("z")


def operation(kind, *operands):
    return OperationDoc(OperationKind[kind], operands)


@pytest.mark.parametrize("doc", [
    operation("Pow", operation("Pow", X, Y), operation("Pow", X, operation("USub", Y))),
    operation("Pow", LiteralDoc(-2), X), LiteralDoc(2).attr("real"), LiteralDoc(-2.5).attr("real"),
    operation("Lt", operation("Lt", X, Y), operation("Eq", Y, Z)),
    operation("Sub", operation("Sub", X, Y), operation("Sub", X, operation("Mult", Y, Z))),
    operation("IfThenElse", X, operation("IfThenElse", Y, X, Z), operation("IfThenElse", Y, X, Z)),
    operation("Not", operation("And", operation("Or", X, Y), operation("Not", X))),
    LambdaDoc([X], LambdaDoc([Y], X)).call(Y, k=Z)[SliceDoc(None, Y), Z],
    DictDoc({LiteralDoc('a"\n'): TupleDoc([X])}), IdDoc("x")[()]])
def test_precedence_is_that_of_python(doc):
    # With more parentheses than are needed the text means the same.
    import ast

    def tree(doc):
        kind = type(doc).__name__
        if kind == "OperationDoc":
            parts = [f"({tree(operand)})" for operand in doc.operands]
            shape = {"Pow": "{}**{}", "Lt": "{}<{}", "Eq": "{}=={}", "Sub": "{}-{}", "Mult": "{}*{}", "USub": "-{}",
                     "And": "{} and {}", "Or": "{} or {}", "Not": "not {}", "IfThenElse": "{1} if {0} else {2}"}
            return shape[doc.kind.name].format(*parts)
        return f"({tree(doc.value)}).{doc.name}" if kind == "AttrAccessDoc" else to_python_script(doc)

    assert ast.dump(ast.parse(to_python_script(doc))) == ast.dump(ast.parse(tree(doc)))


def test_statements():
    body = [ForDoc(TupleDoc([X, Y]), Z, [IfDoc(X, [], [ReturnDoc(X)])])]
    function = FunctionDoc(IdDoc("f"), [AssignDoc(X, LiteralDoc(1), IdDoc("int"))], [IdDoc("wrap")], LiteralDoc(None), body)
    function.comment = "first\n\nlast"
    assert to_python_script(ClassDoc(IdDoc("C"), [], [function, ExprStmtDoc(X)]), indent_spaces=2) == '''class C:
  @wrap
  def f(x: int = 1) -> None:
    """
    first

    last
    """
    for x, y in z:
      if x:
        pass
      else:
        return x

  x'''
    with pytest.raises(ValueError, match="AssignDoc"):
        AssignDoc(TupleDoc([X]), None, IdDoc("int"))
    statement = ExprStmtDoc(X)
    statement.comment = "a\nb"
    with pytest.raises(ValueError, match="cannot have newline"):
        to_python_script(statement)
    with pytest.raises(ValueError, match="has 2 operands, not 1"):
        to_python_script(operation("Add", X))


def test_parts_are_underlined():
    root = ObjectPath.root()
    stmts = [ExprStmtDoc(IdDoc(f"line{i}")) for i in range(9)]
    stmts[3].source_paths = [root.attr("a")]
    stmts[5].expr.source_paths = [root.attr("a").array_index(2)]
    stmts[5].comment = "never underlined"
    doc = StmtBlockDoc(stmts)

    def text(path, **options):
        return to_python_script(doc, path_to_underline=[path], num_context_lines=1, **options)

    assert text(root.attr("a")) == "(... 2 lines skipped ...)\nline2\nline3\n^^^^^\nline4\n(... 4 lines skipped ...)"
    assert text(root.attr("a").array_index(2).attr("b"), print_line_numbers=True) == (
        "(... 4 lines skipped ...)\n5 line4\n6 line5  # never underlined\n  ^^^^^\n7 line6\n(... 2 lines skipped ...)")
    assert "^" not in text(root.attr("b"))
    doc.source_paths = [root]
    assert text(root).count("^^^^^\n") == 8 and "skipped" not in text(root)


def test_paths_of_objects():
    path = ObjectPath.root().attr("body").array_index(2).map_value("key")
    assert str(path) == '<root>.body[2]["key"]' and len(path) == 4 and path.parent.index == 2
    assert path.parent.is_prefix_of(path) and not path.is_prefix_of(path.parent) and path == ObjectPath.root().attr(
        "body").array_index(2).map_value("key") and path != path.parent
