"""Traces: schedules as data."""
import json

from ..._core import native


class Trace:
    """The primitives that a schedule has applied, with their arguments and decisions."""

    def __init__(self, text):
        """Reads a trace: TVM's JSON, or Python statements."""
        self._trace = text if isinstance(text, native.Trace) else native.Trace(
            text if isinstance(text, str) else json.dumps(text))

    def as_json(self, remove_postproc=False):
        """The trace as values of JSON: instructions and decisions."""
        return json.loads(self._without_postproc(remove_postproc)._trace.json())

    def as_python(self, remove_postproc=False):
        """A statement of Python for each instruction."""
        return self._without_postproc(remove_postproc)._trace.lines()

    def simplified(self, remove_postproc=False):
        """The trace without instructions whose results are not used and that change nothing."""
        return Trace(self._without_postproc(remove_postproc)._trace.simplified())

    def apply_to_schedule(self, sch, remove_postproc=False, decision_provider=None):
        """Applies all instructions to a schedule."""
        if decision_provider is not None:
            raise NotImplementedError("decisions of a trace are changed by changing its JSON")
        sch._replay(self._without_postproc(remove_postproc))

    @staticmethod
    def apply_json_to_schedule(json_obj, sch):
        """Applies the instructions of a trace in JSON to a schedule."""
        Trace(json_obj).apply_to_schedule(sch)

    def show(self, *_, **__):
        """Prints the trace, with colours on a terminal."""
        from ... import _text

        _text.show(str(self))

    def _without_postproc(self, remove):
        lines = self._trace.lines() if remove else []
        end = next((i for i, line in enumerate(lines) if line.startswith("sch.enter_postproc")), None)
        if end is None:
            return self
        instructions, decisions = json.loads(self._trace.json())
        return Trace([instructions[:end], [item for item in decisions if item[0] < end]])

    def __str__(self):
        lines = ["# from tvm import tir", "def apply_trace(sch: tir.Schedule) -> None:"]
        return "\n".join(lines + [f"  {line}" for line in self.as_python() or ["pass"]])

    __repr__ = __str__

    def __eq__(self, other):
        return isinstance(other, Trace) and self.as_json() == other.as_json()

    __hash__ = None
