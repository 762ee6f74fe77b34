"""A plugin of pytest: `import tvm` imports iropt, and parameters of tests that belong together vary together."""
from .. import as_tvm

as_tvm.install()


def pytest_generate_tests(metafunc):
    # TVM's conftest.py has this plugin once more, as tvm.testing.plugin.
    if getattr(metafunc, "_iropt_is_done_", False):
        return
    metafunc._iropt_is_done_ = True
    groups = {}
    for name in metafunc.fixturenames:
        for definition in metafunc._arg2fixturedefs.get(name, ())[-1:]:
            function = definition.func
            function = getattr(function, "__func__", function)
            if hasattr(function, "parametrize_group"):
                groups.setdefault(function.parametrize_group, []).append((name, function))
    for members in groups.values():
        names = [name for name, _ in members]
        rows = list(zip(*(function.parametrize_values for _, function in members)))
        metafunc.parametrize(names, rows, indirect=True, ids=members[0][1].parametrize_ids)
