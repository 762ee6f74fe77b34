"""Traces: schedules as data."""
import json

from ..._core import native, require
from .instruction import from_json, to_json


class Trace:
    """The primitives that a schedule has applied, with their arguments and decisions.

    It is made of TVM's JSON, of Python statements, or of instructions and the decisions of those that sample.
    """

    def __init__(self, insts, decisions=None):
        require(insts=insts)
        self._parts = self._native = None
        if isinstance(insts, native.Trace):
            self._native = insts
        elif decisions is not None:
            self._parts = (list(insts), dict(decisions))
        else:
            self._native = native.Trace(insts if isinstance(insts, str) else json.dumps(insts))

    @property
    def _trace(self):
        if self._native is None:
            self._native = native.Trace(json.dumps(self._json()))
        return self._native

    def _json(self):
        insts, decisions = self._parts
        names = {}
        for inst in insts:
            for output in inst.outputs:
                names.setdefault(id(output), f"{_LETTERS.get(type(output).__name__, 'v')}{len(names)}")
        given = [[insts.index(inst), decision] for inst, decision in decisions.items()]
        return [[to_json(inst, names) for inst in insts], given]

    def _read(self):
        if self._parts is None:
            from .schedule import BlockRV, ExprRV, LoopRV

            values, decisions = json.loads(self._native.json())
            variables = {}
            insts = [from_json(item, place, variables, {"b": BlockRV, "l": LoopRV, "v": ExprRV}) for place, item in enumerate(values)]
            self._parts = (insts, {insts[index]: decision for index, decision in decisions})
        return self._parts

    @property
    def insts(self):
        """The instructions."""
        return list(self._read()[0])

    @property
    def decisions(self):
        """The decisions of instructions that sample."""
        return dict(self._read()[1])

    def get_decision(self, inst):
        """The decision of an instruction; None if it has none."""
        return self._read()[1].get(inst)

    def append(self, inst, decision=None):
        """Adds an instruction at the end."""
        insts, decisions = self._read()
        insts.append(inst)
        if decision is not None:
            decisions[inst] = decision
        self._native = None

    def pop(self):
        """Takes the last instruction away and returns it; None if there is none."""
        insts, decisions = self._read()
        if not insts:
            return None
        decisions.pop(insts[-1], None)
        self._native = None
        return insts.pop()

    def with_decision(self, inst, decision, remove_postproc=False):
        """A trace with another decision of an instruction of this one."""
        insts, decisions = self._read()
        if inst not in insts:
            raise ValueError("the instruction is not one of the trace")
        changed = Trace(insts, {**decisions, inst: decision})
        return changed._without_postproc(remove_postproc)

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
        """Applies all instructions to a schedule.

        decision_provider: a function of (instruction, inputs, attributes, decision) that gives the decisions
        """
        trace = self._without_postproc(remove_postproc)
        if decision_provider is not None:
            insts, decisions = trace._read()
            given = {inst: decision_provider(inst, inst.inputs, inst.attrs, decisions[inst]) for inst in insts
                     if inst in decisions}
            trace = Trace(insts, given)
        sch._replay(trace)

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

    __hash__ = None  # type: ignore[assignment]


_LETTERS = {"BlockRV": "b", "LoopRV": "l"}
