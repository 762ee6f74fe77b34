"""Checks of schedules in tests."""
from ...ir import assert_structural_equal
from .schedule import Schedule
from .trace import Trace


def assert_structural_equal_ignore_global_symbol(func1, func2, *args, **kwargs):
    """Fails unless both functions are equal but for their names."""
    assert_structural_equal(func1.with_attr("global_symbol", "main"), func2.with_attr("global_symbol", "main"), *args, **kwargs)


def verify_trace_roundtrip(sch, mod, *, debug_mask="all", text_format=("python", "json")):
    """Fails unless the trace, written and read again in each format, gives the same module and the same trace."""
    del debug_mask
    for form in [text_format] if isinstance(text_format, str) else text_format:
        new = Schedule(mod)
        if form == "json":
            Trace.apply_json_to_schedule(sch.trace.as_json(), new)
        else:
            Trace("\n".join(sch.trace.as_python()) + "\n").apply_to_schedule(new)
        assert_structural_equal(new.mod, sch.mod)
        assert new.trace.as_python() == sch.trace.as_python()
    return new
