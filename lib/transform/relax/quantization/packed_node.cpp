#include "packed_node.h"

#include "iropt/arith/prim_builder.h"
#include "iropt/op/ops/call_packed.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

PackedNode::PackedNode(const Call& call) : call_(call) {
  constexpr std::string_view kPrefix = "onnx.";
  const auto* callee = IsOp(call.op, op::kCallPurePacked) ? As<ExternFunc>(call.args[0]) : nullptr;
  if (!callee || !callee->global_symbol.starts_with(kPrefix)) return;
  name_ = callee->global_symbol.substr(kPrefix.size());
  uint32_t i = 1;
  for (; i < call.args.size() && !Is<StringImm>(call.args[i]); ++i) inputs_.push_back(call.args[i]);
  first_attribute_ = i;
}

const Expr* PackedNode::In(size_t i) const {
  const auto* type = i < inputs_.size() ? TensorTypeOf(inputs_[i]) : nullptr;
  return type && !type->dtype.is_void() && type->ndim != kUnknownDim ? inputs_[i] : nullptr;
}

bool PackedNode::IsLeftOut(size_t i) const {
  if (i >= inputs_.size()) return true;
  const auto* tuple = As<Tuple>(inputs_[i]);
  return tuple && tuple->fields.empty();
}

const Expr* PackedNode::Attribute(std::string_view name) const {
  for (uint32_t i = first_attribute_; i + 1 < call_.args.size(); i += 2) {
    const auto* key = As<StringImm>(call_.args[i]);
    if (key && key->value == name) return call_.args[i + 1];
  }
  return nullptr;
}

int64_t PackedNode::Int(std::string_view name, int64_t fallback) const {
  const auto* value = As<PrimValue>(Attribute(name));
  const int64_t* number = value ? arith::AsInt(value->value) : nullptr;
  return number ? *number : fallback;
}

double PackedNode::Float(std::string_view name, double fallback) const {
  const auto* value = As<PrimValue>(Attribute(name));
  const auto* number = value ? As<tir::FloatImm>(value->value) : nullptr;
  return number ? number->value : fallback;
}

std::vector<int64_t> PackedNode::Ints(std::string_view name, size_t count, int64_t fallback) const {
  std::vector<int64_t> result;
  if (const auto* shape = As<ShapeExpr>(Attribute(name))) {
    for (const PrimExpr* dim : shape->values) {
      const int64_t* number = arith::AsInt(dim);
      result.push_back(number ? *number : fallback);
    }
  }
  result.resize(count, fallback);
  return result;
}

}  // namespace iropt
