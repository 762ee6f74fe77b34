"""Rules, those of the library among them, and the pass that applies them."""
from .. import _newer, tir
from .._core import native
from ..ir.transform import module_pass
from ..target import Target


class ScheduleRule:
    """A rule: `apply` gives a schedule of a PrimFunc, a list of them, or None if the rule does not apply."""

    def apply(self, func, target, tunable):
        raise NotImplementedError

    @staticmethod
    def from_callable(name):
        """A decorator that makes a rule of a function of (func, target, tunable)."""

        def decorate(function):
            rule = type(name, (ScheduleRule,), {"apply": lambda self, *args: function(*args)})
            return rule()

        return decorate

    def is_target_available(self, target):
        """Returns whether the rule is for the target."""
        del target
        return True


class LibraryRule(ScheduleRule):
    """A rule of the library, by its name there."""

    _few = 4

    def __init_subclass__(cls, name=None, **options):
        super().__init_subclass__(**options)
        if name is not None:
            cls._name = name

    def is_target_available(self, target):
        """Returns whether the rule is for the target."""
        kind = self._name.partition(".")[0]
        return kind in (target.keys or ()) or (kind == "cpu" and target.kind.name in ("llvm", "c"))

    def apply(self, func, target, tunable):
        """A schedule of the function, or None if the rule does not apply."""
        del tunable
        if not isinstance(func, tir.PrimFunc) or not self.is_target_available(target):
            return None
        sch = tir.Schedule(func)
        return sch if sch._schedule.apply_rule(self._name, "main", target, self._few) else None

    def __repr__(self):
        return f"<{self._name}>"


def _apply_rules(func, target, rules, tunable):
    """The schedules of the first rule that applies; None if none does."""
    for rule in rules:
        space = rule.apply(func, target, tunable)
        if space is not None:
            return [space] if isinstance(space, tir.Schedule) else space
    return None


def _target_of(func):
    target = func.attrs.get("target") if func.attrs is not None else None
    if target is None:
        return Target.current(allow_none=False)
    return target if isinstance(target, Target) else Target(target)


def scheduled_mark():
    """The value of the attribute tir.is_scheduled: 1, and in newer versions true."""
    return True if _newer.version() >= (0, 21) else 1


def _is_scheduled(func):
    return func.attrs is not None and func.attrs.get("tir.is_scheduled") == 1


@module_pass(opt_level=0, name="ApplyDefaultSchedule")
class ApplyDefaultSchedule:
    """Schedules each PrimFunc by the first of the rules that applies, for its own target or the current one. Functions with the
    attribute tir.is_scheduled stay, and those that a rule has scheduled get it."""

    def __init__(self, *rules):
        self.rules = list(rules)

    def transform_module(self, mod, ctx):
        del ctx
        for name, func in mod.items():
            if not isinstance(func, tir.PrimFunc) or _is_scheduled(func):
                continue
            space = _apply_rules(func, _target_of(func), self.rules, tunable=False)
            if space is None:
                continue
            if len(space) != 1:
                raise ValueError(f"a rule gives {len(space)} schedules of '{name.name}': expected one")
            mod[name] = space[0].mod["main"].with_attr("tir.is_scheduled", scheduled_mark())
        return mod
