"""Instructions of the virtual machine, built one by one."""
import enum

from .._core import Error
from .._dtype import DataType
from ..executable import Module
from ..packed import get_global_func
from ..runtime import NDArray, ShapeTuple


class SpecialReg(enum.IntEnum):
    """Registers that are not memory: an argument that is nothing, and the machine."""

    VOID_ARG = (1 << 54) + 0
    VM_STATE = (1 << 54) + 1


class VMFuncKind(enum.IntEnum):
    """What a function of the table is."""

    PACKED_FUNC, VM_FUNC = 0, 1


class _Operand(tuple):
    """An operand of an instruction: its kind, "r", "i", "c" or "f", and its number or name."""

    __slots__ = ()

    def __new__(cls, kind, value):
        return tuple.__new__(cls, (kind, value))

    def text(self, names):
        """The text of the operand, with names of registers by their numbers."""
        kind, value = self
        if kind == "r":
            return {SpecialReg.VOID_ARG: "%void", SpecialReg.VM_STATE: "%vm"}.get(value) or f"%{names.get(value, value)}"
        return f"i{value}" if kind == "i" else f"{kind}[{value}]"


class _Function:
    """The instructions of a function: (operation, operands, result)."""

    def __init__(self, name, num_inputs):
        self.name, self.num_inputs, self.code = name, num_inputs, []

    def check(self):
        """Raises an error if an instruction reads a register that none before it writes."""
        written = set(range(self.num_inputs)) | set(SpecialReg)
        for _, operands, result in self.code:
            for operand in operands:
                if isinstance(operand, _Operand) and operand[0] == "r" and operand[1] not in written:
                    raise Error(f"the function {self.name} reads register {operand[1]} before it is written")
            if result is not None:
                written.add(result)

    def registers(self):
        """The registers as they are numbered in texts: inputs, and then in the order of writing."""
        names = {i: i for i in range(self.num_inputs)}
        for _, _, result in self.code:
            if result is not None and result not in SpecialReg.__members__.values():
                names.setdefault(result, len(names))
        return names

    def text(self):
        names = self.registers()

        def show(operand):
            return operand.text(names) if isinstance(operand, _Operand) else str(operand)

        lines = [f"@{self.name}:"]
        for operation, operands, result in self.code:
            if operation == "call":
                name, *args = operands
                target = _Operand("r", result).text(names)
                lines.append(f"  call  {name:16} in: {', '.join(map(show, args)):12} dst: {target}")
            else:
                lines.append(f"  {operation:5} {', '.join(map(show, operands))}")
        return "\n".join(lines) + "\n"


class _Scope:
    def __init__(self, builder):
        self._builder = builder

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._builder._current = None


class ExecBuilder:
    """Builds functions of calls of packed functions on registers; the first registers are the arguments.

    `r(i)`, `imm(n)`, `c(i)` and `f(name)` are operands: a register, an integer, a constant and a function.
    """

    def __init__(self):
        self._functions, self._constants, self._current = {}, [], None
        self.module = None  # of functions that are not built of instructions

    def add_module(self, mod):
        """Adds the functions of a module, which run as they are."""
        if self.module is None:
            self.module = mod.copy()
        else:
            self.module.update(mod)

    def r(self, idx):
        return _Operand("r", int(idx))

    def imm(self, value):
        return _Operand("i", int(value))

    def c(self, idx):
        return _Operand("c", int(idx))

    def f(self, name):
        return _Operand("f", name)

    def void_arg(self):
        return self.r(SpecialReg.VOID_ARG)

    def vm_state(self):
        return self.r(SpecialReg.VM_STATE)

    def declare_function(self, func_name, kind=VMFuncKind.PACKED_FUNC):
        """Names a function; they are found by their names, so that nothing changes."""

    def function(self, func_name, num_inputs=0, param_names=None):
        """The scope of a function."""
        del param_names
        if func_name in self._functions:
            raise Error(f"the function {func_name} is built already")
        self._current = self._functions[func_name] = _Function(func_name, num_inputs)
        return _Scope(self)

    def convert_constant(self, const):
        """The operand of a constant: equal ones are kept once."""
        if isinstance(const, (int, bool)):
            return self.imm(const)
        const = ShapeTuple(const) if isinstance(const, (tuple, list)) and not isinstance(const, ShapeTuple) else const
        for i, other in enumerate(self._constants):
            if type(other) is type(const) and _same(other, const):
                return self.c(i)
        self._constants.append(const)
        return self.c(len(self._constants) - 1)

    def _emit(self, operation, operands, result=None):
        if self._current is None:
            raise ValueError("emit should happen in a function scope")
        self._current.code.append((operation, operands, result))

    def emit_call(self, name, args=None, dst=None):
        """Calls a packed function, or a function that is built here, and writes a register."""
        operands = [arg if isinstance(arg, _Operand) else self.convert_constant(arg) for arg in args or []]
        self._emit("call", (name, *operands), SpecialReg.VOID_ARG if dst is None else dst[1])

    def emit_ret(self, result):
        self._emit("ret", (result,))

    def emit_goto(self, pc_offset):
        """Continues so many instructions later."""
        self._emit("goto", (int(pc_offset),))

    def emit_if(self, cond, false_offset):
        """Continues so many instructions later if a register is zero."""
        self._emit("if", (cond, int(false_offset)))

    def get(self):
        """The functions as an executable for VirtualMachine."""
        for function in self._functions.values():
            function.check()
        return InstructionExecutable(dict(self._functions), list(self._constants))


def _same(a, b):
    import numpy

    if isinstance(a, NDArray):
        return a.dtype == b.dtype and numpy.array_equal(a.numpy(), b.numpy())
    return a == b


class InstructionExecutable(Module):
    """Functions of instructions, which are interpreted."""

    def __init__(self, functions, constants):
        super().__init__({}, None, "instructions")
        self._functions, self._constants = functions, constants

    def _names(self):
        return list(self._functions)

    def _find(self, name):
        return name if name in self._functions else None

    def get_function(self, name, query_imports=False):
        del query_imports
        if name in ("stats", "as_text") and name not in self._functions:
            return getattr(self, name)
        if name not in self._functions:
            raise AttributeError(f"Module has no function '{name}': it has {', '.join(self._names()) or 'none'}")
        return lambda *args: self._run(self._functions[name], args)

    @property
    def mod(self):
        return self

    def jit(self, *_args, **_kwargs):
        return self

    def as_text(self):
        """The instructions, with registers numbered in the order in which they are written."""
        called = {operands[0] for function in self._functions.values() for operation, operands, _ in function.code
                  if operation == "call"}
        head = [f"@{name} packed_func;\n" for name in sorted(called - set(self._functions))]
        return "\n".join([*head, *(function.text() for function in self._functions.values())])

    def stats(self):
        """A summary: the functions, and the number of constants."""
        return (f"Relax VM executable statistics:\n  Constant pool (# {len(self._constants)})\n"
                f"  Functions (# {len(self._functions)}): [{', '.join(self._functions)}]\n")

    def _callee(self, name):
        if name in self._functions:
            return self.get_function(name)
        if name == "vm.builtin.make_closure":
            return lambda function, *bound: lambda *args: function(*bound, *args)
        return get_global_func(name)

    def _value(self, operand, registers):
        kind, value = operand
        if kind == "i":
            return value
        if kind == "c":
            constant = self._constants[value]
            return str(constant) if isinstance(constant, DataType) else constant
        return self._callee(value) if kind == "f" else registers[value]

    def _run(self, function, args):
        if len(args) != function.num_inputs:
            raise ValueError(f"the function {function.name} takes {function.num_inputs} arguments, not {len(args)}")
        registers = dict(enumerate(args)) | {SpecialReg.VOID_ARG: None, SpecialReg.VM_STATE: self}
        at = 0
        while True:
            operation, operands, result = function.code[at]
            at += 1
            if operation == "ret":
                return self._value(operands[0], registers)
            if operation == "goto":
                at += operands[0] - 1
            elif operation == "if":
                at += 0 if _holds(self._value(operands[0], registers)) else operands[1] - 1
            else:
                name, *rest = operands
                registers[result] = self._callee(name)(*(self._value(operand, registers) for operand in rest))


def _holds(value):
    return bool(value.numpy()) if isinstance(value, NDArray) else bool(value)
