#include "node.h"

#include <fmt/format.h>

#include <array>
#include <new>
#include <string>

#include "iropt/diag/joint_spans.h"
#include "iropt/ir/array_attr.h"
#include "iropt/ir/dispatch.h"
#include "iropt/ir/location.h"
#include "iropt/ir/ndarray.h"
#include "tensor.h"
#include "values.h"

namespace iropt::python {

namespace {

struct NodeObject {
  PyObject ob_base;
  const Node* node;
  KeepRef keep;
};

// Set once when the package is imported; the classes live as long as the interpreter.
PyTypeObject* node_type = nullptr;
PyTypeObject* array_type = nullptr;
std::array<PyTypeObject*, kNumNodeKinds> node_classes{};

NodeObject* Object(PyObject* self) { return reinterpret_cast<NodeObject*>(self); }

void DeallocNode(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Object(self)->keep.~KeepRef();
  type->tp_free(self);
  Py_DECREF(type);
}

const Node* Identity(PyObject* self) {
  return Object(self)->keep->session->Identity(Object(self)->node);
}

// Interned types that are equal are one node; others are compared by their structure in Python.
Py_hash_t HashNode(PyObject* self) {
  const auto hash = static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(Identity(self)) >> 4);
  return hash == -1 ? -2 : hash;
}

PyObject* CompareNodes(PyObject* a, PyObject* b, int op) {
  if ((op != Py_EQ && op != Py_NE) || !IsNode(b)) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((Identity(a) == Identity(b)) == (op == Py_EQ));
}

// ---- Values of fields

py::object FieldToPython(const Node* value, const KeepRef& keep) { return ToPython(value, keep); }
py::object FieldToPython(const Attr* value, const KeepRef& keep) {
  return value != nullptr && value->kind != NodeKind::kDictAttr ? AttrToPython(value, keep) : ToPython(value, keep);
}
py::object FieldToPython(const DictAttr* value, const KeepRef& keep) { return ToPython(value, keep); }
py::object FieldToPython(std::string_view value, const KeepRef&) { return py::str(value.data(), value.size()); }
// An unknown dtype is an empty text.
py::object FieldToPython(DataType value, const KeepRef&) {
  return value.is_void() ? py::str() : py::str(value.ToString());
}
py::object FieldToPython(bool value, const KeepRef&) { return py::bool_(value); }
py::object FieldToPython(double value, const KeepRef&) { return py::float_(value); }
py::object FieldToPython(const NDArray* value, const KeepRef&) { return TensorToPython(value); }
py::object FieldToPython(const tir::PointerInfo* value, const KeepRef&) {
  if (value == nullptr) return py::none();
  return py::make_tuple(value->elem.ToString(), py::str(value->scope.data(), value->scope.size()), value->nested);
}
template <class T>
requires(std::is_integral_v<T> || std::is_enum_v<T>) py::object FieldToPython(T value, const KeepRef&) {
  return py::int_(static_cast<int64_t>(value));
}
template <class T>
py::object FieldToPython(const List<T>& list, const KeepRef& keep) {
  std::vector<py::object> items;
  items.reserve(list.size());
  for (const T& item : list) items.push_back(FieldToPython(item, keep));
  return MakeArray(std::move(items));
}

template <class T>
struct IsListOf : std::false_type {};
template <class T>
struct IsListOf<List<T>> : std::true_type {};

// The type of a field in a stub.
template <class T>
constexpr std::string_view StubType() {
  if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, DataType>) return "str";
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, double>) return "float";
  if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) return "int";
  if constexpr (IsListOf<T>::value) return "Array";
  if constexpr (std::is_same_v<T, const NDArray*>) return "NDArray";
  if constexpr (std::is_convertible_v<T, const Attr*>) return "Any";
  if constexpr (std::is_convertible_v<T, const Type*>) return "StructInfo";
  if constexpr (std::is_convertible_v<T, const Expr*>) return "Expr";
  if constexpr (std::is_convertible_v<T, const PrimExpr*>) return "PrimExpr";
  if constexpr (std::is_convertible_v<T, const Node*>) return "Node";
  return "Any";
}

// Calls f(name, value, role) for every field: those of the struct, and what all nodes of a group have.
template <class X, class F>
void ForEachPyField(const X* n, F&& f) {
  if constexpr (std::is_base_of_v<Expr, X>) f("type", n->type, FieldRole::kType);
  if constexpr (std::is_base_of_v<PrimExpr, X>) f("dtype", n->dtype, FieldRole::kUse);
  if constexpr (std::is_base_of_v<Var, X>) f("name", n->name(), FieldRole::kIgnored);
  if constexpr (std::is_base_of_v<tir::Var, X>) f("name", n->name, FieldRole::kIgnored);
  ForEachField(n, [&](auto field, const auto& value) {
    const std::string_view name = field.name;
    const bool listed =
        (std::is_base_of_v<Expr, X> && name == "type") || (std::is_base_of_v<PrimExpr, X> && name == "dtype");
    if (!listed) f(name, value, field.role);
  });
}

// ---- Functions of the module

PyObject* ReadField(PyObject* self, void* closure) {
  try {
    return GetField(Object(self)->node, reinterpret_cast<uintptr_t>(closure), Object(self)->keep).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

// Lets a class be the class of a kind of node, with its fields as attributes.
void SetNodeClass(int kind, const py::type& cls) {
  auto* type = reinterpret_cast<PyTypeObject*>(cls.inc_ref().ptr());
  node_classes[static_cast<size_t>(kind)] = type;
  size_t index = 0;
  for (const FieldInfo& field : FieldsOf(static_cast<NodeKind>(kind))) {
    // A descriptor refers to its definition forever.
    auto* definition =
        new PyGetSetDef{field.name.data(), &ReadField, nullptr, nullptr, reinterpret_cast<void*>(index++)};
    const auto descriptor = py::reinterpret_steal<py::object>(PyDescr_NewGetSet(type, definition));
    if (!cls.attr("__dict__").contains(field.name.data())) py::setattr(cls, field.name.data(), descriptor);
  }
}

py::list NodeKinds() {
  py::list kinds;
  const auto add = [&](std::string_view kind, std::string_view cls, std::string_view group, NodeKind number) {
    py::list fields;
    for (const FieldInfo& field : FieldsOf(number))
      fields.append(py::make_tuple(field.name, field.type, static_cast<int>(field.role)));
    kinds.append(py::make_tuple(static_cast<int>(number), kind, cls, group, fields));
  };
#define IROPT_NODE(Kind, Class, Group) add(#Kind, #Class, #Group, NodeKind::k##Kind);
#include "iropt/ir/node_kinds.def"
  return kinds;
}

py::object Place(py::handle object) {
  const NodeRef ref = GetNode(object);
  // The first one of several.
  const SourceSpan span = PartsOf(Location(*ref.node)).front();
  if (!span.known()) return py::none();
  const SourceManager& sources = ref.keep->session->sources();
  const SourceLocation begin = sources.Locate(span.begin);
  const SourceLocation end = sources.Locate(span.end);
  if (begin.name.empty()) return py::none();
  return py::make_tuple(begin.name, begin.line, begin.column, end.line, end.column);
}

}  // namespace

std::vector<FieldInfo> FieldsOf(NodeKind kind) {
  // Fields are described by the struct; no field is read.
  alignas(16) static const std::array<std::byte, 256> kBlank{};
  const auto list = [&]<class X>(const X*) {
    static_assert(sizeof(X) <= sizeof(kBlank));
    std::vector<FieldInfo> fields;
    ForEachPyField(reinterpret_cast<const X*>(kBlank.data()),
                   [&](std::string_view name, const auto& value, FieldRole role) {
                     fields.push_back({name, StubType<std::remove_cvref_t<decltype(value)>>(), role});
                   });
    return fields;
  };
  switch (kind) {
#define IROPT_NODE(Kind, Class, Group)                                                                                 \
  case NodeKind::k##Kind:                                                                                              \
    return list(static_cast<const IROPT_NODE_CLASS(Class, Group)*>(nullptr));
#include "iropt/ir/node_kinds.def"
  }
  return {};
}

py::object GetField(const Node* node, size_t index, const KeepRef& keep) {
  return Dispatch(node, [&](const auto* exact) {
    py::object found;
    size_t i = 0;
    ForEachPyField(exact, [&](std::string_view, const auto& value, FieldRole) {
      if (i++ == index) found = FieldToPython(value, keep);
    });
    return found;
  });
}

bool IsNode(py::handle object) { return PyObject_TypeCheck(object.ptr(), node_type) != 0; }

NodeRef GetNode(py::handle object) {
  if (!IsNode(object)) throw py::type_error(fmt::format("expected a node, not {}", DescribeObject(object)));
  return {Object(object.ptr())->node, Object(object.ptr())->keep};
}

py::object ToPython(const Node* node, const KeepRef& keep) {
  if (node == nullptr) return py::none();
  PyTypeObject* type = node_classes[static_cast<size_t>(node->kind)];
  if (type == nullptr) type = node_type;
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw py::error_already_set();
  Object(object)->node = node;
  new (&Object(object)->keep) KeepRef(keep);
  return py::reinterpret_steal<py::object>(object);
}

py::object ToPython(const NodeRef& ref) { return ToPython(ref.node, ref.keep); }

namespace {

py::object ArrayToPython(const ObjectAttr& attr) {
  const auto* text = attr.values.size() == 1 ? As<StrAttr>(attr.values[0]) : nullptr;
  if (text == nullptr) throw py::value_error("the array has no bytes");
  auto array = DecodeArray(text->value);
  if (!array.ok()) throw py::value_error(array.error().message);
  return TensorToPython(std::move(*array));
}

}  // namespace

py::object AttrToPython(const Attr* attr, const KeepRef& keep) {
  if (attr == nullptr) return py::none();
  switch (attr->kind) {
    case NodeKind::kNoneAttr: return py::none();
    case NodeKind::kIntAttr: {
      const auto* number = static_cast<const IntAttr*>(attr);
      if (number->dtype.is_bool()) return py::bool_(number->value != 0);
      return py::int_(number->value);
    }
    case NodeKind::kFloatAttr: return py::float_(static_cast<const FloatAttr*>(attr)->value);
    case NodeKind::kStrAttr: return FieldToPython(static_cast<const StrAttr*>(attr)->value, keep);
    case NodeKind::kDTypeAttr: return FieldToPython(static_cast<const DTypeAttr*>(attr)->value, keep);
    case NodeKind::kListAttr: return FieldToPython(static_cast<const ListAttr*>(attr)->values, keep);
    case NodeKind::kExprAttr: return ToPython(static_cast<const ExprAttr*>(attr)->value, keep);
    case NodeKind::kTypeAttr: return ToPython(static_cast<const TypeAttr*>(attr)->value, keep);
    case NodeKind::kObjectAttr: {
      const auto* object = static_cast<const ObjectAttr*>(attr);
      return object->type_key == kArrayKey ? ArrayToPython(*object) : ToPython(attr, keep);
    }
    default: return ToPython(attr, keep);
  }
}

py::object MakeArray(std::vector<py::object> items) {
  PyTypeObject* type = array_type != nullptr ? array_type : &PyTuple_Type;
  PyObject* tuple = type->tp_alloc(type, static_cast<Py_ssize_t>(items.size()));
  if (tuple == nullptr) throw py::error_already_set();
  for (size_t i = 0; i < items.size(); ++i)
    PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), items[i].release().ptr());
  return py::reinterpret_steal<py::object>(tuple);
}

void AddNodeType(py::module_& m) {
  PyType_Slot slots[] = {
      {Py_tp_dealloc, reinterpret_cast<void*>(&DeallocNode)},
      {Py_tp_hash, reinterpret_cast<void*>(&HashNode)},
      {Py_tp_richcompare, reinterpret_cast<void*>(&CompareNodes)},
      {Py_tp_doc, const_cast<char*>("An immutable node of the IR.")},
      {0, nullptr},
  };
  PyType_Spec spec = {"iropt._iropt.Node", sizeof(NodeObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  node_type = reinterpret_cast<PyTypeObject*>(type);
  // Nodes are made from values; an object without a node does not exist.
  node_type->tp_new = nullptr;
  m.add_object("Node", type);
  m.def("set_node_class", &SetNodeClass);
  m.def("set_array_class",
        [](const py::type& cls) { array_type = reinterpret_cast<PyTypeObject*>(cls.inc_ref().ptr()); });
  m.def("node_kinds", &NodeKinds);
  m.def("node_kind", [](const NodeRef& ref) { return static_cast<int>(ref.node->kind); });
  m.def("node_id",
        [](const NodeRef& ref) { return reinterpret_cast<uintptr_t>(ref.keep->session->Identity(ref.node)); });
  m.def("place", &Place);
  m.def("attr_value", [](const NodeRef& ref) { return AttrToPython(As<Attr>(ref.node), ref.keep); });
}

}  // namespace iropt::python
