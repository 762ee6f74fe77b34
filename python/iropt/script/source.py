"""Sources of scripts, their syntax, and the values of expressions in it."""
import ast
import inspect
import textwrap


class Source:
    """The text of a function or a class, and where it begins: a text is a source of its own."""

    def __init__(self, program):
        if isinstance(program, str):
            self.source_name, self.start_line, self.start_column = "<str>", 1, 0
            self.source = self.full_source = program
            return
        self.source_name = inspect.getsourcefile(program)
        lines, self.start_line = inspect.getsourcelines(program)
        self.start_column = len(lines[0]) - len(lines[0].lstrip())
        self.source = textwrap.dedent("".join(lines))
        module = inspect.getmodule(program)
        self.full_source = self.source if module is None else inspect.getsource(module)

    def as_ast(self):
        """The syntax of the text: nodes of Python's module ast."""
        return ast.parse(self.source)


class ExprEvaluator:
    """Computes expressions of a script in Python."""

    @staticmethod
    def eval(parser, value_table, node):
        """The value of the syntax of an expression, with values of names."""
        del parser
        expression = ast.fix_missing_locations(ast.Expression(node))
        return eval(compile(expression, "<script>", "eval"), dict(value_table))  # pylint: disable=eval-used


def eval_expr(parser, node, dict_globals):
    """The value of the syntax of an expression, with values of names."""
    return ExprEvaluator.eval(parser, dict_globals or {}, node)
