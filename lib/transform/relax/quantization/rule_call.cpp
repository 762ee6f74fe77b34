#include "rule_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/infer/op_builder.h"
#include "iropt/ir/location.h"
#include "iropt/op/ops/arithmetic.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

bool HasNull(std::span<const Expr* const> args) { return std::ranges::find(args, nullptr) != args.end(); }

}  // namespace

const IntegerValue& RuleCall::operand(size_t i) const {
  static const IntegerValue none;
  return i < operands_.size() ? operands_[i] : none;
}

const AffineType* RuleCall::type(size_t i) {
  if (operand(i).types.size() == 1) return &operand(i).types.front();
  Fail("an operand is not quantized");
  return nullptr;
}

const AffineType* RuleCall::out_type() {
  if (!context_.out) Fail("the type of the result is not known");
  return context_.out ? &*context_.out : nullptr;
}

const Expr* RuleCall::Relay(std::string_view name, std::initializer_list<const Expr*> args,
                            std::initializer_list<PyKeyword> attributes) {
  const std::span<const Expr* const> operands(args.begin(), args.size());
  if (HasNull(operands)) return nullptr;
  return context_.relay.build(name, operands, std::span(attributes.begin(), attributes.size()), Location(call_),
                              context_.builder, context_.module, context_.diagnostics);
}

const Expr* RuleCall::Make(OpId op, std::initializer_list<const Expr*> args) {
  if (HasNull(std::span(args.begin(), args.size()))) return nullptr;
  const Call* call = context_.builder.MakeCall(GetOp(op), args);
  return call->type ? call : nullptr;
}

const Expr* RuleCall::With(std::initializer_list<const Expr*> args) {
  std::vector<const Expr*> all(args);
  if (HasNull(all)) return nullptr;
  all.insert(all.end(), call_.args.begin() + static_cast<ptrdiff_t>(all.size()), call_.args.end());
  const Call* call = context_.builder.MakeCall(call_.op, all, call_.attrs, call_.type_args);
  return call->type ? call : nullptr;
}

const Expr* RuleCall::Tuple(std::span<const Expr* const> fields) {
  return HasNull(fields) ? nullptr : OpBuilder(context_.builder).MakeTuple(fields);
}

const Expr* RuleCall::Cast(const Expr* data, DataType dtype) {
  return Relay("cast", {data}, {Attribute("dtype", dtype.ToString())});
}

const Expr* RuleCall::Requantize(const Expr* data, const AffineType& from, const AffineType& to,
                                 std::optional<DataType> out_dtype) {
  return Relay("qnn.requantize", {data, from.scale, from.zero_point, to.scale, to.zero_point},
               {Attribute("axis", PyValue::Int(from.axis, {})),
                Attribute("out_dtype", out_dtype.value_or(to.dtype).ToString())});
}

const Expr* RuleCall::Quantize(const Expr* data, const AffineType& to, int64_t axis) {
  return Relay("qnn.quantize", {data, to.scale, to.zero_point},
               {Attribute("axis", PyValue::Int(axis, {})), Attribute("out_dtype", to.dtype.ToString())});
}

const Expr* RuleCall::Product(const Expr* a, const Expr* b) {
  const auto of_a = NumbersOf(a);
  const auto of_b = NumbersOf(b);
  if (!of_a || !of_b || of_a->empty() || of_b->empty()) return Make(op::kMultiply, {a, b});
  const size_t count = std::max(of_a->size(), of_b->size());
  if ((of_a->size() != 1 && of_a->size() != count) || (of_b->size() != 1 && of_b->size() != count)) {
    Fail("the scales of the operands have different lengths");
    return nullptr;
  }
  std::vector<double> product;
  for (size_t i = 0; i < count; ++i) {
    const auto x = static_cast<float>((*of_a)[of_a->size() == 1 ? 0 : i]);
    product.push_back(x * static_cast<float>((*of_b)[of_b->size() == 1 ? 0 : i]));
  }
  const bool is_scalar = TensorTypeOf(a)->ndim == 0 && TensorTypeOf(b)->ndim == 0;
  constexpr DataType kScale = DataType::Float(32);
  return is_scalar ? MakeNumber(product.front(), kScale, workspace()) : MakeVector(product, kScale, workspace());
}

PyKeyword RuleCall::Attribute(std::string_view name, std::string_view text) {
  return {name, {}, PyValue::String(workspace().arena().CopyString(text), {})};
}

PyValue RuleCall::Ints(std::span<const int64_t> values) {
  std::vector<PyValue> items;
  for (const int64_t value : values) items.push_back(PyValue::Int(value, {}));
  return PyValue(PyValue::Kind::kList, workspace().arena().Copy(std::span<const PyValue>(items)), {});
}

std::nullopt_t RuleCall::Fail(std::string message) {
  const auto* op = As<Op>(call_.op);
  context_.diagnostics.Error(Location(call_), "pass-failed",
                             fmt::format("{}: {}", op ? op->name : "a call", std::move(message)));
  return std::nullopt;
}

}  // namespace iropt
