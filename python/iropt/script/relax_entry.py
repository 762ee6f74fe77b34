"""What TVM's parser has for types that are named before their fields are known."""
from ._names import Name as StructInfoProxy  # noqa: F401
