"""Functions of TVM that its Python package uses by the names that its library registers."""
from ._linear_inequalities import as_conditions as SolveInequalitiesAsCondition  # noqa: F401
from .bound import domain_touched as DomainTouched  # noqa: F401
from .bound import narrow_predicate_expression as NarrowPredicateExpression  # noqa: F401
