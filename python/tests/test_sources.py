"""The sources of the package."""
import ast
import collections
import pathlib

import iropt


def test_names_are_defined_once():
    for path in pathlib.Path(iropt.__file__).parent.rglob("*.py"):
        for scope in ast.walk(ast.parse(path.read_text())):
            if not isinstance(scope, (ast.Module, ast.ClassDef)):
                continue
            # Of a property, the functions that get and set it have one name.
            defined = [node.name for node in scope.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.decorator_list]
            twice = [name for name, count in collections.Counter(defined).items() if count > 1]
            assert not twice, f"{path}: {twice}"
