// Constants, shapes as values, and tensors made of shapes.

#include "iropt/op/ops/shape.h"

#include "exchange/onnx/import/function_importer.h"
#include "exchange/onnx/import/opaque_call.h"
#include "exchange/onnx/ops/common.h"
#include "exchange/onnx/ops/scalar_elements.h"
#include "iropt/arith/analyzer.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/context.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/create.h"

namespace iropt::onnx {

namespace {

template <class T>
const Expr* ConstantOf(OpImport& op, const std::vector<T>& values, DataType dtype, bool is_scalar) {
  const std::vector<int64_t> dims(is_scalar ? 0 : 1, static_cast<int64_t>(values.size()));
  auto array = NDArray::Make(dtype, dims);
  std::ranges::copy(values, array->MutableAs<T>().begin());
  return op.Constant(std::move(array));
}

Value ConstantOf(OpImport& op, const TensorProto& tensor) {
  if (!DataTypeOf(tensor.type)) {
    const Expr* opaque = OpaqueTensor(tensor, op.workspace());
    return opaque ? opaque : op.Error("the constant has elements of an unknown type");
  }
  const Result<Array> array = op.importer().context().tensors.Read(tensor);
  return array.ok() ? Value(op.Constant(*array)) : op.Error(array.error().message);
}

Value ImportConstant(OpImport& op) {
  if (op.node().attributes.size() != 1) return op.Error("a constant has one attribute");
  const AttributeProto& value = op.node().attributes.front();
  if (value.name == "value" && !value.tensors.empty()) return ConstantOf(op, value.tensors.front());
  if (value.name == "value_float") return ConstantOf<float>(op, {value.f}, DataType::Float(32), true);
  if (value.name == "value_floats") return ConstantOf<float>(op, value.floats, DataType::Float(32), false);
  if (value.name == "value_int") return ConstantOf<int64_t>(op, {value.i}, DataType::Int(64), true);
  if (value.name == "value_ints") return ConstantOf<int64_t>(op, value.ints, DataType::Int(64), false);
  if (value.name == "value_string" || value.name == "value_strings") {
    TensorProto tensor{.type = ElementType::kString, .strings = value.strings};
    if (value.name == "value_string")
      tensor.strings = {value.s};
    else
      tensor.dims = {static_cast<int64_t>(value.strings.size())};
    return OpaqueTensor(tensor, op.workspace());
  }
  if (value.name == "sparse_value" && !value.sparse_tensors.empty()) {
    const Result<Array> array = op.importer().context().tensors.Read(value.sparse_tensors.front());
    return array.ok() ? Value(op.Constant(*array)) : op.Error(array.error().message);
  }
  return op.Error(fmt::format("attribute '{}' is not a value of a constant", value.name));
}

// Returns whether the model asks for the shape of a value: it is one that a node gives, and some of its dimensions are
// those of other values, or computed of them; or any, if all are kept.
bool KeepsShape(OpImport& op, const TensorType* type) {
  const KeptShapes kept = op.importer().context().kept_shapes;
  if (kept == KeptShapes::None || !type->known) return false;
  const auto* var = As<Var>(op.In(0));
  const bool is_made = var != nullptr && op.importer().builder().LookupBinding(var) != nullptr;
  return (is_made || kept == KeptShapes::All) &&
         std::ranges::any_of(type->dims, [](const PrimExpr* dim) { return !Is<tir::IntImm>(dim); });
}

Value ImportShape(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr || KeepsShape(op, type)) return {};
  if (!type->known || type->dims.size() > Elements::kMost) {
    if (op.FindAttr("start") || op.FindAttr("end")) return {};
    return op.Call(op::kShapeToTensor, {op.Call(op::kShapeOf, {op.In(0)})});
  }
  const auto rank = static_cast<int64_t>(type->dims.size());
  const auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const int64_t end = clamp(op.Int("end", rank));
  Elements elements;
  for (int64_t i = clamp(op.Int("start", 0)); i < end; ++i)
    elements.values.push_back(DimOf(type, static_cast<size_t>(i)));
  return elements;
}

Value ImportSize(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  if (type == nullptr) return {};
  if (!type->known || KeepsShape(op, type)) return op.Call(op::kSize, {op.In(0)});
  const PrimExpr* size = IRContext::Current().Int(1);
  for (const PrimExpr* dim : type->dims) size = arith::PrimBuilder().Mul(size, dim);
  return Elements{.values = {size}, .is_scalar = true};
}

// The shape that the elements of an input say, or that a tensor holds at run time. Null if even its rank is unknown.
const Expr* ShapeFrom(OpImport& op, size_t input) {
  if (const Elements* elements = op.ElementsOf(input)) return op.Shape(elements->values);
  const TensorType* type = op.TypeOf(input);
  const PrimExpr* rank = DimOf(type, 0);
  if (rank == nullptr || !Is<tir::IntImm>(rank)) return nullptr;
  return op.Call(op::kTensorToShape, {op.Cast(op.In(input), DataType::Int(64))});
}

Value ImportConstantOfShape(OpImport& op) {
  const Expr* shape = ShapeFrom(op, 0);
  if (shape == nullptr) return {};
  const AttributeProto* value = op.FindAttr("value");
  if (value == nullptr || value->tensors.empty()) {
    return op.Call(op::kZeros, {shape}, op.Attrs<InitAttrs>(op::kZeros, {.dtype = DataType::Float(32)}));
  }
  TensorProto scalar = value->tensors.front();
  scalar.dims.clear();
  const Value fill = ConstantOf(op, scalar);
  const auto* constant = fill.expr ? As<Constant>(fill.expr) : nullptr;
  if (constant == nullptr) return {};
  return op.Call(op::kFull, {shape, fill.expr}, op.Attrs<InitAttrs>(op::kFull, {.dtype = constant->data->dtype()}));
}

// The dimension of two that broadcast, either of which may be missing; null if only a run can tell which of them is 1.
const PrimExpr* BroadcastDims(const PrimExpr* old, const PrimExpr* wanted) {
  if (old == nullptr || old == wanted) return wanted;
  const auto* number = wanted ? As<tir::IntImm>(wanted) : nullptr;
  if (wanted == nullptr || (number && number->value == 1)) return old;
  const bool gives_way = Is<tir::IntImm>(old) || (number && Is<tir::Var>(old));
  return gives_way ? wanted : nullptr;
}

Value ImportExpand(OpImport& op) {
  const TensorType* type = op.TypeOf(0);
  const Elements* shape = op.ElementsOf(1);
  if (type == nullptr || !type->known || shape == nullptr) return {};
  // The input may be longer than the shape, or have the greater dimensions.
  const size_t rank = std::max<size_t>(type->dims.size(), shape->values.size());
  std::vector<const PrimExpr*> dims;
  for (size_t from_end = rank; from_end > 0; --from_end) {
    const PrimExpr* old = from_end <= type->dims.size() ? DimOf(type, type->dims.size() - from_end) : nullptr;
    const PrimExpr* wanted =
        from_end <= shape->values.size() ? shape->values[shape->values.size() - from_end] : nullptr;
    dims.push_back(BroadcastDims(old, wanted));
  }
  if (std::ranges::find(dims, nullptr) == dims.end()) return op.Call(op::kBroadcastTo, {op.In(0), op.Shape(dims)});
  return {};
}

// The end of a range of integers: its start, where that is beyond the limit. Null if the direction is not known.
const PrimExpr* EndOfRange(const PrimExpr* start, const PrimExpr* limit, const PrimExpr* delta) {
  const auto* step = As<tir::IntImm>(delta);
  if (step == nullptr || step->value == 0) return nullptr;
  const arith::PrimBuilder make;
  const PrimExpr* length = step->value > 0 ? make.Sub(limit, start) : make.Sub(start, limit);
  if (arith::Analyzer().CanProveGreaterEqual(length, 0)) return limit;
  return step->value > 0 ? make.Max(limit, start) : make.Min(limit, start);
}

Value ImportRange(OpImport& op) {
  const Elements* integers[] = {op.ElementsOf(0), op.ElementsOf(1), op.ElementsOf(2)};
  if (integers[0] && integers[1] && integers[2]) {
    const PrimExpr* start = integers[0]->values.at(0);
    const PrimExpr* end = EndOfRange(start, integers[1]->values.at(0), integers[2]->values.at(0));
    if (end == nullptr) return {};
    return op.Call(op::kArange, {op.Prim(start), op.Prim(end), op.Prim(integers[2]->values.at(0))},
                   op.Attrs<InitAttrs>(op::kArange, {.dtype = op.Dtype(0)}));
  }
  std::vector<const Expr*> args;
  for (size_t i = 0; i < 3; ++i) {
    if (integers[i] != nullptr) {
      args.push_back(op.Prim(integers[i]->values.at(0)));
    } else if (const auto number = op.NumberOf(i)) {
      args.push_back(op.PrimFloat(*number, op.Dtype(i)));
    } else {
      return {};
    }
  }
  return op.Call(op::kArange, args, op.Attrs<InitAttrs>(op::kArange, {.dtype = op.Dtype(0)}));
}

constexpr OpRow kShapeRows[] = {
    {"Constant", 1, 0, 0, ImportConstant, "a constant"},
    {"ConstantOfShape", 9, 1, 1, ImportConstantOfShape, "R.zeros, R.full", EvaluateConstantOfShape},
    {"Expand", 8, 2, 2, ImportExpand, "R.broadcast_to"},
    {"Range", 11, 3, 3, ImportRange, "R.arange", EvaluateRange},
    {"Shape", 1, 1, 1, ImportShape, "a symbolic shape, R.shape_of, R.shape_to_tensor"},
    {"Size", 1, 1, 1, ImportSize, "a symbolic size, R.size"},
};

}  // namespace

std::span<const OpRow> ShapeRows() { return kShapeRows; }

}  // namespace iropt::onnx
