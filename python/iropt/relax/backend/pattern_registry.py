"""The registry of patterns for external compilers."""
from ..fusion_pattern import FusionPattern

_patterns = []


def register_patterns(patterns):
    """Adds patterns: FusionPatterns, or tuples of their arguments. Later ones come first when they are asked for."""
    for item in patterns:
        if not isinstance(item, (FusionPattern, tuple)):
            raise TypeError(f"cannot register a {type(item).__name__} as a pattern")
        _patterns.append(item if isinstance(item, FusionPattern) else FusionPattern(*item))


def get_patterns_with_prefix(prefix):
    """The patterns whose names begin with a text, those that were registered last first."""
    return [pattern for pattern in reversed(_patterns) if pattern.name.startswith(prefix)]


def get_pattern(name):
    """The pattern of a name; None if there is none."""
    return next((pattern for pattern in reversed(_patterns) if pattern.name == name), None)
