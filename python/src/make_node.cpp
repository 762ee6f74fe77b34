#include "make_node.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "errors.h"
#include "fast_function.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/infer/sharding.h"
#include "iropt/ir/dispatch.h"
#include "iropt/ir/ndarray.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "tensor.h"
#include "values.h"

namespace iropt::python {

namespace {

// Fields of new nodes by name.
class Values {
 public:
  Values(const py::dict& values, Build& build) : values_(values), build_(build) {}

  // The value of a field, by its name in the code of this program, or None.
  py::object Get(const char* name) const {
    static auto& keys = *new LookupMap<const char*, PyObject*>;
    PyObject*& key = keys[name];
    if (key == nullptr) key = PyUnicode_InternFromString(name);
    PyObject* value = PyDict_GetItemWithError(values_.ptr(), key);
    if (value == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return py::reinterpret_borrow<py::object>(value == nullptr ? Py_None : value);
  }
  Build& build() const { return build_; }
  std::string Text(const char* name) const {
    const py::object value = Get(name);
    return value.is_none() ? std::string() : value.cast<std::string>();
  }
  template <class T>
  T Number(const char* name, T otherwise) const {
    const py::object value = Get(name);
    return value.is_none() ? otherwise : value.cast<T>();
  }
  DataType DType(const char* name) const { return ToDType(Get(name)); }
  std::vector<const PrimExpr*> Dims(const char* name) const {
    std::vector<const PrimExpr*> dims;
    for (py::handle dim : py::reinterpret_borrow<py::sequence>(Get(name))) dims.push_back(ToDim(dim, build_));
    return dims;
  }
  std::vector<const Type*> Types(const char* name) const {
    std::vector<const Type*> types;
    for (py::handle type : py::reinterpret_borrow<py::sequence>(Get(name))) types.push_back(RequiredType(type, build_));
    return types;
  }

 private:
  const py::dict& values_;
  Build& build_;
};

// ---- A field of any type

template <class T>
struct ListItem {
  using Type = void;
};
template <class T>
struct ListItem<List<T>> {
  using Type = T;
};

template <class T>
T FromPython(py::handle value, Build& build) {
  using Item = typename ListItem<T>::Type;
  if constexpr (!std::is_void_v<Item>) {
    if (value.is_none()) return {};
    std::vector<Item> items;
    for (py::handle item : value) items.push_back(FromPython<Item>(item, build));
    return List<Item>(build.arena().Copy(items));
  } else if constexpr (std::is_same_v<T, DataType>) {
    return ToDType(value);
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    return value.is_none() ? std::string_view() : build.arena().CopyString(value.cast<std::string>());
  } else if constexpr (std::is_same_v<T, const NDArray*>) {
    std::shared_ptr<const NDArray> array = value.is_none() ? nullptr : TensorFromPython(value);
    const NDArray* data = array.get();
    if (array != nullptr) build.arena().Retain(std::move(array));
    return data;
  } else if constexpr (std::is_same_v<T, const tir::PointerInfo*>) {
    return nullptr;  // given when the variable is made
  } else if constexpr (std::is_same_v<T, const DictAttr*>) {
    return ToDictAttr(value, build);
  } else if constexpr (std::is_same_v<T, const Attr*>) {
    return value.is_none() ? nullptr : ToAttr(value, build);
  } else if constexpr (std::is_convertible_v<T, const Type*>) {
    return static_cast<T>(ToType(value, build));
  } else if constexpr (std::is_same_v<T, const PrimExpr*>) {
    return ToPrim(value, build);
  } else if constexpr (std::is_same_v<T, const Expr*>) {
    return ToExpr(value, build);
  } else if constexpr (std::is_convertible_v<T, const Node*>) {
    using X = std::remove_cvref_t<decltype(*std::declval<T>())>;
    const Node* node = ToNode(value, build);
    if constexpr (!std::is_same_v<X, Node>) {
      if (node != nullptr && !Is<X>(node))
        throw py::type_error(fmt::format("expected another kind of node, not {}", DescribeObject(value)));
    }
    return static_cast<T>(node);
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<T>(value.cast<int>());
  } else {
    return value.cast<T>();
  }
}

// Returns whether a node may lack the field, or an item of the list in it.
bool IsOptional(std::string_view field) {
  constexpr std::string_view kOptional[] = {"dom", "else_case", "init", "layout", "param_buffers", "step", "thread_binding"};
  return std::ranges::find(kOptional, field) != std::ranges::end(kOptional);
}

template <class T>
bool HasNull(const T& value) {
  using Item = typename ListItem<T>::Type;
  // What has no type yet gets one when it is inferred.
  if constexpr (std::is_convertible_v<T, const Type*> || std::is_convertible_v<T, const Attr*>) {
    return false;
  } else if constexpr (std::is_convertible_v<T, const Node*>) {
    return value == nullptr;
  } else if constexpr (std::is_convertible_v<Item, const Node*>) {
    return std::ranges::any_of(value, [](const Node* item) { return item == nullptr; });
  } else {
    return false;
  }
}

template <class X, class F>
void CheckField(const X& node, F field) {
  const std::string_view name = field.name;
  // The predicate of a block is always there; that of an access to a buffer is not.
  const bool is_mask = name == "predicate" && !std::is_same_v<X, tir::BlockRealize>;
  if (is_mask || IsOptional(name) || !HasNull(node.*(field.member))) return;
  throw py::type_error(fmt::format("'{}' of a node cannot be None", name));
}

template <class X, class F>
void SetField(X& node, F field, const Values& values) {
  const py::object value = values.Get(field.name);
  using T = typename F::Type;
  constexpr bool kHasDefault = std::is_same_v<T, const DictAttr*>;
  if (!value.is_none() || kHasDefault) node.*(field.member) = FromPython<T>(value, values.build());
}

// ---- What follows from the fields

void Complete(Node&) {}
void Complete(tir::BinaryExpr& node) {
  node.dtype = node.kind >= NodeKind::kEQ ? DataType::Bool().with_lanes(node.a->dtype.lanes) : node.a->dtype;
}
void Complete(tir::Not& node) { node.dtype = DataType::Bool().with_lanes(node.a->dtype.lanes); }
void Complete(tir::Select& node) { node.dtype = node.true_value->dtype; }
void Complete(tir::Let& node) { node.dtype = node.body->dtype; }
void Complete(tir::StringImm& node) { node.dtype = DataType::Handle(); }
void Complete(tir::Broadcast& node) { node.dtype = arith::VectorDType(node.value->dtype, node.lanes); }
void Complete(tir::Ramp& node) { node.dtype = arith::VectorDType(node.base->dtype, node.lanes); }
void Complete(tir::BufferLoad& node) {
  if (!node.dtype.is_void()) return;
  node.dtype = node.buffer->dtype;
  if (!node.indices.empty() && !node.indices.back()->dtype.is_scalar())
    node.dtype = node.dtype.with_lanes(node.dtype.lanes * node.indices.back()->dtype.lanes);
}
void Complete(PrimFunc& node) {
  if (node.ret_type == nullptr) node.ret_type = TupleType::Get({});
  if (node.type == nullptr) node.type = PrimFuncType(&node);
}

// A node of X with the given fields. All fields are trivially copyable, and zero is a value of each.
template <class X>
const Node* MakeExact(NodeKind kind, const Values& values) {
  Build& build = values.build();
  X* node = build.arena().New<X>(std::bit_cast<X>(std::array<std::byte, sizeof(X)>()));
  node->kind = kind;
  if constexpr (std::is_base_of_v<Expr, X>) node->type = ToType(values.Get("type"), build);
  if constexpr (std::is_base_of_v<PrimExpr, X>) {
    node->dtype = DataType::Void();
    if (!values.Get("dtype").is_none()) node->dtype = values.DType("dtype");
  }
  if constexpr (std::is_same_v<X, tir::Buffer>) node->id = build.workspace().NextVarId();
  X::Fields()([&](auto... field) { (SetField(*node, field, values), ...); });
  X::Fields()([&](auto... field) { (CheckField(*node, field), ...); });
  Complete(*node);
  return node;
}

// ---- Interned nodes

const Type* MakeTensorType(const Values& values) {
  Build& build = values.build();
  const DataType dtype = values.DType("dtype");
  const auto* vdevice = As<VDeviceAttr>(ToNode(values.Get("vdevice"), build));
  if (const auto* shape = As<Expr>(ToNode(values.Get("shape_var"), build)))
    return TensorType::WithShapeVar(build.arena(), shape, dtype, vdevice);
  if (values.Get("dims").is_none()) return TensorType::Get(values.Number("ndim", kUnknownDim), dtype, vdevice);
  return TensorType::Get(values.Dims("dims"), dtype, vdevice);
}

const Type* MakeFuncType(const Values& values) {
  Build& build = values.build();
  const Type* ret = ToType(values.Get("ret"), build);
  if (ret == nullptr) ret = ObjectType::Get();
  const bool purity = values.Number("purity", true);
  if (values.Get("params").is_none())
    return FuncType::Opaque(ret, purity, build.session().context().InternString(values.Text("derive_func")));
  return FuncType::Get(build.arena(), values.Types("params"), ret, purity);
}

const Type* MakeType(NodeKind kind, const Values& values) {
  switch (kind) {
    case NodeKind::kObjectType: return ObjectType::Get();
    case NodeKind::kPrimType:
      if (!values.Get("value").is_none()) return PrimType::Get(ToDim(values.Get("value"), values.build()));
      return PrimType::Get(values.DType("dtype"));
    case NodeKind::kShapeType:
      if (values.Get("values").is_none()) return ShapeType::Get(values.Number("ndim", kUnknownDim));
      return ShapeType::Get(values.Dims("values"));
    case NodeKind::kTensorType: return MakeTensorType(values);
    case NodeKind::kDTensorType: {
      const auto* tensor = As<TensorType>(ToType(values.Get("tensor"), values.build()));
      const auto* mesh = As<DeviceMeshAttr>(ToNode(values.Get("device_mesh"), values.build()));
      if (tensor == nullptr || mesh == nullptr) throw py::type_error("expected a tensor type and a device mesh");
      const std::string_view placement = values.Text("placement");
      const std::string problem = PlacementProblem(placement, *tensor, *mesh);
      if (!problem.empty()) throw py::value_error(fmt::format("placement '{}' {}", placement, problem));
      return MakeDTensor(tensor, mesh, ParsePlacement(placement));
    }
    case NodeKind::kTupleType: return TupleType::Get(values.build().arena(), values.Types("fields"));
    default: return MakeFuncType(values);
  }
}

std::vector<int64_t> Integers(const py::object& list) {
  std::vector<int64_t> numbers;
  for (py::handle item : list) numbers.push_back(item.cast<int64_t>());
  return numbers;
}

const Attr* MakeAttr(NodeKind kind, const Values& values) {
  Build& build = values.build();
  switch (kind) {
    case NodeKind::kDictAttr: return ToDictAttr(values.Get("values"), build);
    case NodeKind::kTargetAttr: return TargetAttr::Get(ToDictAttr(values.Get("config"), build));
    case NodeKind::kVDeviceAttr: {
      const py::object target = values.Get("target");
      return VDeviceAttr::Get(target.is_none() ? nullptr : ToDictAttr(target, build),
                              values.Number<int64_t>("vdevice_id", 0),
                              build.session().context().InternString(values.Text("memory_scope")));
    }
    case NodeKind::kDeviceMeshAttr:
      return DeviceMeshAttr::Get(Integers(values.Get("shape")), Integers(values.Get("device_ids")),
                                 values.Number("is_range", false));
    case NodeKind::kIndexMapAttr: {
      std::vector<const tir::Var*> params;
      for (py::handle param : values.Get("params")) {
        params.push_back(As<tir::Var>(ToNode(param, build)));
        if (params.back() == nullptr)
          throw py::type_error(fmt::format("a parameter of an index map is a variable, not {}", DescribeObject(param)));
      }
      return IndexMapAttr::Get(params, values.Dims("results"), As<IndexMapAttr>(ToNode(values.Get("inverse"), build)));
    }
    case NodeKind::kFloatAttr: return FloatAttr::Get(values.Number("value", 0.0), values.DType("dtype"));
    case NodeKind::kIntAttr: return IntAttr::Get(values.Number<int64_t>("value", 0), values.DType("dtype"));
    default: return ToAttr(values.Get("value"), build);
  }
}

// ---- Variables and names

const Node* MakePrimVar(NodeKind kind, const Values& values) {
  Build& build = values.build();
  const py::object given = values.Get("dtype");
  const DataType dtype = given.is_none() ? DataType::Int(32) : ToDType(given);
  if (!dtype.is_handle())
    return build.session().context().NewSymVar(values.Text("name"), dtype, kind == NodeKind::kSizeVar);
  const py::object pointer = values.Get("pointer");
  if (pointer.is_none()) return build.workspace().NewPrimVar(values.Text("name"), dtype);
  const auto parts = pointer.cast<py::tuple>();
  const auto* info =
      tir::PointerInfo::Get(ToDType(parts[0]), build.session().context().InternString(parts[1].cast<std::string>()));
  return build.workspace().NewPrimVar(values.Text("name"), dtype, info);
}

const Node* MakeOp(const std::string& name) { return OpNamed(name).op; }

const Node* MakeShape(const Values& values) {
  const std::vector<const PrimExpr*> dims = values.Dims("values");
  return values.build().workspace().New<ShapeExpr>(values.build().workspace().Copy(dims), ShapeType::Get(dims));
}

const Node* MakeNode(NodeKind kind, const Values& values) {
  Build& build = values.build();
  switch (GroupOf(kind)) {
    case NodeGroup::kType: return MakeType(kind, values);
    case NodeGroup::kAttr: return MakeAttr(kind, values);
    default: break;
  }
  switch (kind) {
    case NodeKind::kVar: return build.workspace().NewVar(values.Text("name"), ToType(values.Get("type"), build));
    case NodeKind::kDataflowVar:
      return build.workspace().NewDataflowVar(values.Text("name"), ToType(values.Get("type"), build));
    case NodeKind::kGlobalVar: return GlobalVar::Get(values.Text("name"));
    case NodeKind::kOp: return MakeOp(values.Text("name"));
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: return MakePrimVar(kind, values);
    case NodeKind::kShapeExpr: return MakeShape(values);
    case NodeKind::kPrimValue: return ToExpr(values.Get("value"), build);
    case NodeKind::kConstant: return ToExpr(values.Get("data"), build);
    default: break;
  }
  switch (kind) {
#define IROPT_NODE(Kind, Class, Group)                                                                                 \
  case NodeKind::k##Kind:                                                                                              \
    if constexpr (NodeGroup::k##Group != NodeGroup::kType && NodeGroup::k##Group != NodeGroup::kAttr &&                \
                  NodeKind::k##Kind != NodeKind::kOp && NodeKind::k##Kind != NodeKind::kGlobalVar)                     \
      return MakeExact<IROPT_NODE_CLASS(Class, Group)>(kind, values);                                                  \
    else                                                                                                               \
      break;
#include "iropt/ir/node_kinds.def"
  }
  throw py::type_error("such a node cannot be made");
}

// ---- Arithmetic on scalar expressions

// The dtype of an integer of Python: that of the other operand of an operation.
DataType IntegersNextTo(py::handle other) {
  const auto* prim = IsNode(other) ? As<PrimExpr>(GetNode(other).node) : nullptr;
  const bool is_integer = prim != nullptr && prim->dtype.is_integer() && !prim->dtype.is_bool();
  return is_integer ? prim->dtype.with_lanes(1) : DataType::Int(32);
}

// binary(kind, a, b).
py::object BinaryOf(std::span<PyObject* const> given) {
  Build build;
  const py::handle a = given[1];
  const py::handle b = given[2];
  const PrimExpr* x = RequiredPrim(a, build, IntegersNextTo(b));
  const PrimExpr* y = RequiredPrim(b, build, IntegersNextTo(a));
  const auto node_kind = static_cast<NodeKind>(py::handle(given[0]).cast<int>());
  if (const auto error = arith::CheckBinary(node_kind, x, y)) ThrowError(error->message);
  return ToPython(build.Made(arith::PrimBuilder(build.workspace()).Binary(node_kind, x, y)));
}

NodeRef BitwiseOf(int op, const py::object& a, const py::object& b) {
  Build build;
  const PrimExpr* x = RequiredPrim(a, build, IntegersNextTo(b));
  const PrimExpr* y = RequiredPrim(b, build, IntegersNextTo(a));
  const auto bit_op = static_cast<arith::BitOp>(op);
  if (const auto error = arith::CheckBitwise(bit_op, x, y)) ThrowError(error->message);
  return build.Made(arith::PrimBuilder(build.workspace()).Bitwise(bit_op, x, y));
}

NodeRef CastOf(const py::object& dtype, const py::object& value) {
  Build build;
  const PrimExpr* prim = RequiredPrim(value, build);
  if (const auto error = arith::CheckCast(ToDType(dtype), prim)) ThrowError(error->message);
  return build.Made(arith::PrimBuilder(build.workspace()).Cast(ToDType(dtype), prim));
}

NodeRef NotOf(const py::object& value) {
  Build build;
  return build.Made(arith::PrimBuilder(build.workspace()).Not(RequiredPrim(value, build)));
}

// A copy of the node with other values of some fields.
template <class X>
const Node* CopyWith(const X* node, const Values& values) {
  if constexpr (std::is_base_of_v<Type, X> || std::is_base_of_v<Attr, X> || std::is_same_v<X, Op> ||
                std::is_same_v<X, GlobalVar>) {
    throw py::type_error("a node that is shared by all who use it cannot be changed");
  } else {
    X* copy = values.build().workspace().New<X>(*node);
    if (!values.Get("type").is_none()) {
      if constexpr (std::is_base_of_v<Expr, X>) copy->type = ToType(values.Get("type"), values.build());
    }
    const auto set = [&](auto field) {
      if (values.Get(field.name).is_none()) return;
      SetField(*copy, field, values);
      CheckField(*copy, field);
    };
    X::Fields()([&](auto... field) { (set(field), ...); });
    if constexpr (std::is_base_of_v<PrimExpr, X>) copy->flags = 0;
    if constexpr (std::is_same_v<X, PrimFunc>) {
      if (values.Get("type").is_none()) copy->type = PrimFuncType(copy);
    }
    return copy;
  }
}

// make(kind, fields by their names).
py::object Make(std::span<PyObject* const> given) {
  Build build;
  const auto kind = static_cast<NodeKind>(py::handle(given[0]).cast<int>());
  return ToPython(build.Made(MakeNode(kind, Values(py::reinterpret_borrow<py::dict>(given[1]), build))));
}
// to_expr(value).
py::object MakeExpr(std::span<PyObject* const> given) {
  Build build;
  return ToPython(build.Made(ToExpr(given[0], build)));
}
// to_prim(value, the dtype of integers or None).
py::object MakePrim(std::span<PyObject* const> given) {
  Build build;
  const py::handle dtype = given[1];
  return ToPython(build.Made(ToPrim(given[0], build, dtype.is_none() ? DataType::Int(32) : ToDType(dtype))));
}

}  // namespace

const OpInfo& OpNamed(std::string_view name) {
  const OpInfo* op = FindOp(name);
  if (op == nullptr) throw py::key_error(fmt::format("unknown operator '{}'", name));
  return *op;
}

void AddNodeMaking(py::module_& m) {
  AddFastFunction<&Make, 2>(m, "make");
  m.def("copy_with", [](const NodeRef& ref, const py::dict& values) {
    Build build;
    build.Use(ref.keep);
    return build.Made(Dispatch(ref.node, [&](const auto* exact) { return CopyWith(exact, Values(values, build)); }));
  });
  m.def("dict_items", [](const NodeRef& ref) {
    const auto* dict = To<DictAttr>(ref.node);
    std::vector<py::object> keys;
    std::vector<py::object> values;
    for (uint32_t i = 0; i < dict->size(); ++i) {
      keys.push_back(py::str(dict->keys[i].data(), dict->keys[i].size()));
      values.push_back(AttrToPython(dict->values[i], ref.keep));
    }
    return py::make_tuple(MakeArray(std::move(keys)), MakeArray(std::move(values)));
  });
  AddFastFunction<&BinaryOf, 3>(m, "binary");
  m.def("match_types", [](const py::object& a, const py::object& b) {
    Build build;
    const PrimExpr* x = RequiredPrim(a, build);
    const PrimExpr* y = RequiredPrim(b, build);
    if (const auto error = arith::CheckMatch(x, y)) ThrowError(error->message);
    arith::PrimBuilder(build.workspace()).Match(x, y);
    return py::make_tuple(ToPython(build.Made(x)), ToPython(build.Made(y)));
  });
  m.def("bitwise", &BitwiseOf);
  m.def("cast", &CastOf);
  m.def("logical_not", &NotOf);
  m.def("dtype_name", [](const py::object& dtype) { return ToDType(dtype).ToString(); });
  AddFastFunction<&MakeExpr, 1>(m, "to_expr");
  AddFastFunction<&MakePrim, 2>(m, "to_prim");
  m.def("const_prim", [](const py::object& value, const py::object& dtype) {
    Build build;
    const DataType type = ToDType(dtype);
    const arith::PrimBuilder make(build.workspace());
    if (type.is_floating()) return build.Made(make.Float(value.cast<double>(), type));
    const bool is_large = type == DataType::UInt(64) && value > py::int_(INT64_MAX);
    return build.Made(
        make.Const(is_large ? static_cast<int64_t>(value.cast<uint64_t>()) : value.cast<int64_t>(), type));
  });
}

}  // namespace iropt::python
