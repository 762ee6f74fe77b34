#include "values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/array_attr.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/tir/substitute.h"
#include "tensor.h"

namespace iropt::python {

namespace {

[[noreturn]] void Expected(std::string_view what, py::handle value) {
  throw py::type_error(fmt::format("expected {}, not {}", what, DescribeObject(value)));
}

bool IsText(py::handle value) { return PyUnicode_Check(value.ptr()) != 0; }
// Numbers of NumPy are not Python's, but have a value that Python can ask for.
bool IsInteger(py::handle value) { return PyLong_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) != 0; }
bool IsReal(py::handle value) { return PyFloat_Check(value.ptr()) != 0 || py::hasattr(value, "__float__"); }
bool IsList(py::handle value) { return PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0; }

int64_t Integer(py::handle value) {
  const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!index) throw py::error_already_set();
  const int64_t result = PyLong_AsLongLong(index.ptr());
  if (result == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return result;
}

double Real(py::handle value) {
  const double result = PyFloat_AsDouble(value.ptr());
  if (result == -1.0 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return result;
}

// An object of ours that stands for a node has it as `_node_`: a region of a buffer, a name of a group.
py::object NodeOf(py::handle value) {
  if (IsNode(value)) return py::reinterpret_borrow<py::object>(value);
  const PyTypeObject* type = Py_TYPE(value.ptr());
  if (type == &PyLong_Type || type == &PyTuple_Type || type == &PyList_Type || type == &PyUnicode_Type) return {};
  if (py::hasattr(value, "_node_")) return value.attr("_node_")();
  return {};
}

const Expr* TupleOf(py::handle value, Build& build) {
  std::vector<const Expr*> fields;
  std::vector<const Type*> types;
  for (py::handle item : py::reinterpret_borrow<py::sequence>(value)) {
    fields.push_back(ToExpr(item, build));
    if (fields.back() == nullptr) Expected("an expression", item);
    if (fields.back()->type != nullptr) types.push_back(fields.back()->type);
  }
  const Type* type = types.size() == fields.size() ? TupleType::Get(build.arena(), types) : nullptr;
  return build.workspace().New<Tuple>(build.workspace().Copy(fields), type);
}

const Expr* ConstantOf(std::shared_ptr<const NDArray> array, Build& build) {
  std::vector<const PrimExpr*> dims;
  for (const int64_t dim : array->shape()) dims.push_back(build.session().context().Int(dim));
  const Type* type = TensorType::Get(dims, array->dtype());
  const NDArray* data = array.get();
  build.arena().Retain(std::move(array));
  return build.workspace().New<Constant>(data, type);
}

}  // namespace

std::string_view TextOf(py::handle value) {
  Py_ssize_t size = 0;
  const char* data = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (data == nullptr) throw py::error_already_set();
  return {data, static_cast<size_t>(size)};
}

std::string DescribeObject(py::handle value) {
  if (value.is_none()) return "None";
  return fmt::format("an object of type {}", Py_TYPE(value.ptr())->tp_name);
}

TextVersion ToVersion(std::string_view text) {
  const std::optional<TextVersion> version = ParseTextVersion(text);
  if (version) return *version;
  throw py::value_error(
      fmt::format("unknown version '{}' of TVM: expected one of {}", text, fmt::join(kTextVersions, ", ")));
}

DataType ToDType(py::handle value) {
  if (value.is_none()) return DataType::Void();
  py::object text = py::reinterpret_borrow<py::object>(value);
  if (!IsText(text)) {
    if (text.is(py::handle(reinterpret_cast<PyObject*>(&PyLong_Type)))) return DataType::Int(32);
    if (text.is(py::handle(reinterpret_cast<PyObject*>(&PyFloat_Type)))) return DataType::Float(32);
    if (text.is(py::handle(reinterpret_cast<PyObject*>(&PyBool_Type)))) return DataType::Bool();
    // numpy.float32 and numpy.dtype("float32").
    text = py::hasattr(value, "__name__") ? value.attr("__name__")
           : py::hasattr(value, "name")   ? value.attr("name")
                                          : py::object(py::str(value));
  }
  if (const std::optional<DataType> dtype = DataType::Parse(TextOf(text))) return *dtype;
  throw py::value_error(fmt::format("'{}' is not a dtype", TextOf(text)));
}

const Node* ToNode(py::handle value, Build& build, std::string_view what) {
  if (value.is_none()) return nullptr;
  const py::object object = NodeOf(value);
  if (!object) Expected(what, value);
  const NodeRef ref = GetNode(object);
  build.Use(ref.keep);
  return ref.node;
}

const PrimExpr* ToPrim(py::handle value, Build& build, DataType int_dtype) {
  const arith::PrimBuilder make(build.workspace());
  if (value.is_none()) return nullptr;
  if (const py::object object = NodeOf(value)) {
    const Node* node = ToNode(object, build);
    if (const auto* prim = As<PrimExpr>(node)) return prim;
    if (const auto* iter_var = As<tir::IterVar>(node)) return iter_var->var;
    if (const auto* prim_value = As<PrimValue>(node)) return prim_value->value;
    Expected("a scalar expression", value);
  }
  if (py::isinstance<py::bool_>(value)) return make.Bool(value.cast<bool>());
  if (IsText(value)) return build.workspace().New<tir::StringImm>(build.arena().CopyString(TextOf(value)));
  if (IsInteger(value)) return make.Int(Integer(value), int_dtype);
  if (IsReal(value)) return make.Float(Real(value), DataType::Float(32));
  Expected("a scalar expression", value);
}

const PrimExpr* RequiredPrim(py::handle value, Build& build, DataType int_dtype) {
  if (const PrimExpr* prim = ToPrim(value, build, int_dtype)) return prim;
  Expected("a scalar expression", value);
}

const PrimExpr* ToDim(py::handle value, Build& build) {
  if (PyLong_CheckExact(value.ptr()) != 0) return build.session().context().Int(Integer(value));
  const PrimExpr* dim = ToPrim(value, build, DataType::Int(64));
  if (dim != nullptr && !dim->interned() && IsNode(value)) {
    const KeepRef keep = GetNode(value).keep;
    const auto symbol_of = [&](const tir::Var* var) -> const PrimExpr* {
      return var->dtype.is_int() ? build.session().SymbolOf(var, keep) : nullptr;
    };
    const auto* var = As<tir::Var>(dim);
    dim = var != nullptr && var->dtype.is_int() ? symbol_of(var) : tir::Substitute(dim, symbol_of, build.workspace());
  }
  if (dim == nullptr || !IRContext::CanIntern(dim))
    throw py::value_error("a dimension of a type must be made of numbers and symbolic variables");
  return build.session().context().Intern(dim);
}

const Expr* ToExpr(py::handle value, Build& build) {
  if (value.is_none()) return nullptr;
  if (const py::object object = NodeOf(value)) {
    const Node* node = ToNode(object, build);
    if (const auto* expr = As<Expr>(node)) return expr;
    if (Is<PrimExpr>(node)) {
      const PrimExpr* prim = ToDim(object, build);
      return build.workspace().New<PrimValue>(prim, PrimType::Get(prim));
    }
    Expected("an expression", value);
  }
  if (IsList(value)) return TupleOf(value, build);
  if (IsText(value)) return build.workspace().New<StringImm>(build.arena().CopyString(TextOf(value)), ObjectType::Get());
  if (PyObject_CheckBuffer(value.ptr()) == 0 && (IsInteger(value) || IsReal(value))) {
    const PrimExpr* number = ToDim(value, build);
    return build.workspace().New<PrimValue>(number, PrimType::Get(number));
  }
  if (std::shared_ptr<const NDArray> array = TensorFromPython(value)) return ConstantOf(std::move(array), build);
  Expected("an expression", value);
}

const DictAttr* ToDictAttr(py::handle value, Build& build) {
  if (value.is_none()) return DictAttr::Empty();
  if (const py::object object = NodeOf(value)) {
    if (const auto* dict = As<DictAttr>(ToNode(object, build))) return dict;
    Expected("a dictionary of attributes", value);
  }
  if (!py::hasattr(value, "items")) Expected("a dictionary of attributes", value);
  std::vector<DictAttr::Entry> entries;
  std::vector<std::string> keys;
  const py::list items(value.attr("items")());
  keys.reserve(items.size());
  for (py::handle item : items) {
    const auto pair = item.cast<py::tuple>();
    keys.push_back(py::str(pair[0]).cast<std::string>());
    entries.emplace_back(keys.back(), ToAttr(pair[1], build));
  }
  return DictAttr::Get(entries);
}

const Attr* ToAttr(py::handle value, Build& build) {
  if (value.is_none()) return NoneAttr::Get();
  if (const py::object object = NodeOf(value)) {
    const Node* node = ToNode(object, build);
    if (const auto* attr = As<Attr>(node)) return attr;
    if (const auto* imm = As<tir::IntImm>(node)) return IntAttr::Get(imm->value, imm->dtype);
    if (const auto* imm = As<tir::FloatImm>(node)) return FloatAttr::Get(imm->value, imm->dtype);
    if (const auto* imm = As<tir::StringImm>(node)) return StrAttr::Get(imm->value);
    if (const auto* imm = As<StringImm>(node)) return StrAttr::Get(imm->value);
    if (const auto* type = As<Type>(node)) return TypeAttr::Get(type);
    if (const auto* prim = As<PrimExpr>(node))
      return ExprAttr::Get(IRContext::CanIntern(prim) ? build.session().context().Intern(prim) : prim);
    if (const auto* global = As<GlobalVar>(node)) return StrAttr::Get(global->name);
    Expected("an attribute", value);
  }
  if (py::isinstance<py::bool_>(value)) return IntAttr::Bool(value.cast<bool>());
  if (IsText(value)) return StrAttr::Get(TextOf(value));
  if (IsList(value)) {
    std::vector<const Attr*> items;
    for (py::handle item : py::reinterpret_borrow<py::sequence>(value)) items.push_back(ToAttr(item, build));
    return ListAttr::Get(items);
  }
  if (py::hasattr(value, "items")) return ToDictAttr(value, build);
  if (IsInteger(value)) return IntAttr::Get(Integer(value));
  if (IsReal(value)) return FloatAttr::Get(Real(value));
  if (const auto array = TensorFromPython(value)) return MakeArrayAttr(*array);
  Expected("an attribute", value);
}

const Type* ToType(py::handle value, Build& build) {
  if (value.is_none()) return nullptr;
  const Node* node = ToNode(value, build, "a type");
  if (const auto* type = As<Type>(node)) return type;
  if (const auto* expr = As<Expr>(node); expr != nullptr && expr->type != nullptr) return expr->type;
  Expected("a type", value);
}

const Type* RequiredType(py::handle value, Build& build) {
  if (const Type* type = ToType(value, build)) return type;
  Expected("a type", value);
}

OptionValue ToOption(py::handle value) {
  if (value.is_none()) return {};
  if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
  if (IsText(value)) return std::string(TextOf(value));
  if (IsList(value)) {
    OptionValue::List list;
    for (py::handle item : py::reinterpret_borrow<py::sequence>(value)) list.push_back(ToOption(item));
    return list;
  }
  if (PyDict_Check(value.ptr()) != 0) {
    std::vector<OptionValue::Entry> entries;
    for (const auto& [key, item] : py::reinterpret_borrow<py::dict>(value))
      entries.push_back({py::str(key).cast<std::string>(), ToOption(item)});
    return entries;
  }
  if (IsInteger(value)) return Integer(value);
  if (IsReal(value)) return Real(value);
  Expected("a value that JSON has", value);
}

py::object FromOption(const OptionValue& value) {
  if (const bool* flag = value.as_bool()) return py::bool_(*flag);
  if (const int64_t* number = value.as_int()) return py::int_(*number);
  if (const double* number = value.as_double()) return py::float_(*number);
  if (const std::string* text = value.as_string()) return py::str(*text);
  if (const OptionValue::List* list = value.as_list()) {
    py::list items;
    for (const OptionValue& item : *list) items.append(FromOption(item));
    return items;
  }
  if (value.is_dict()) {
    py::dict items;
    for (const OptionValue::Entry& entry : value.entries()) items[py::str(entry.key)] = FromOption(entry.value);
    return items;
  }
  return py::none();
}

}  // namespace iropt::python
