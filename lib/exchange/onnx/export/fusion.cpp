#include "exchange/onnx/export/fusion.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "exchange/onnx/export/fusion_rows.h"
#include "iropt/diag/joint_spans.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/unary.h"
#include "iropt/runtime/value.h"

namespace iropt::onnx {

// ---- Definitions and uses

class UseCounter final : public ExprVisitor {
 public:
  explicit UseCounter(Definitions& definitions) : definitions_(definitions) {}

  // The bindings of calls that are used, the last one first.
  const std::vector<std::pair<const Var*, const Call*>>& calls() const { return calls_; }
  // Each variable that is used otherwise than by its fields.
  const std::unordered_set<const Var*>& whole() const { return whole_; }
  const std::vector<const If*>& conditionals() const { return conditionals_; }

 protected:
  // Users first: what only dead bindings use is not used.
  void VisitSeqExpr(const SeqExpr* sequence) override {
    VisitExpr(sequence->body);
    for (uint32_t i = sequence->blocks.size(); i-- > 0;) {
      const List<const Binding*>& bindings = sequence->blocks[i]->bindings;
      for (uint32_t k = bindings.size(); k-- > 0;) VisitBinding(bindings[k]);
    }
  }

  void VisitVarBinding(const VarBinding* binding) override {
    definitions_.values_[binding->var] = {binding->value, binding->span()};
    if (!definitions_.uses_.contains(binding->var)) return;
    if (const auto* call = As<Call>(binding->value)) calls_.emplace_back(binding->var, call);
    ExprVisitor::VisitVarBinding(binding);
  }

  void VisitMatchCast(const MatchCast* binding) override {
    definitions_.casts_[binding->var] = binding->value;
    if (const auto* value = As<Var>(binding->value)) definitions_.cast_to_[value] = binding->var;
    if (const auto* call = As<Call>(binding->value)) calls_.emplace_back(binding->var, call);
    ExprVisitor::VisitMatchCast(binding);
  }

  void VisitIf(const If* conditional) override {
    conditionals_.push_back(conditional);
    ExprVisitor::VisitIf(conditional);
  }

  void VisitVar(const Var* var) override {
    ++definitions_.uses_[var];
    whole_.insert(var);
  }

  void VisitTupleGetItem(const TupleGetItem* item) override {
    const auto* var = As<Var>(item->tuple);
    if (var == nullptr) return ExprVisitor::VisitTupleGetItem(item);
    ++definitions_.uses_[var];
    std::vector<bool>& fields = definitions_.fields_[var];
    const auto index = static_cast<size_t>(item->index);
    if (fields.size() <= index) fields.resize(index + 1);
    fields[index] = true;
  }

 private:
  Definitions& definitions_;
  std::vector<std::pair<const Var*, const Call*>> calls_;
  std::unordered_set<const Var*> whole_;
  std::vector<const If*> conditionals_;
};

Definitions::Definitions(const iropt::Function& function, int64_t opset) {
  UseCounter counter(*this);
  counter.VisitExpr(function.body);
  for (const Var* var : counter.whole()) {
    const auto* tuple = As<TupleType>(var->type);
    if (tuple != nullptr) fields_[var].assign(tuple->fields.size(), true);
  }
  for (const If* conditional : counter.conditionals()) {
    const auto* var = As<Var>(conditional->cond);
    if (var && uses_[var] == 1 && BeforeScalar(var)) absorbed_.insert(var);
  }
  // Users first, so that the greatest trees are found.
  for (const auto& [var, call] : counter.calls()) {
    const auto* op = As<Op>(call->op);
    if (op == nullptr || absorbed_.contains(var)) continue;
    for (const FusionRow& row : FusionRows()) {
      if (row.root != op->id || opset < row.since) continue;
      Matcher matcher(*this, opset);
      std::optional<FusedNode> node = row.match(matcher, *call);
      if (!node || !matcher.IsClosed()) continue;
      if (node->op.empty()) node->op = row.op;
      for (const auto& [inner, taken] : matcher.inner()) {
        if (matcher.TakesAllUses(inner)) absorbed_.insert(inner);
        // What several nodes take in is dead when the last of them has been found.
        uses_[inner] -= taken;
        node->spans.push_back(SpanOf(inner));
      }
      node->spans.push_back(SpanOf(var));
      std::ranges::sort(node->spans, {}, [](Span span) { return PartsOf(Location(span)).front().begin; });
      fused_.try_emplace(var, std::move(*node));
      break;
    }
  }
}

const Expr* Definitions::Find(const Var* var) const {
  const auto found = values_.find(var);
  return found == values_.end() ? nullptr : found->second.value;
}

Span Definitions::SpanOf(const Var* var) const {
  if (const Expr* cast = casts_.Lookup(var)) return cast->span();
  const auto found = values_.find(var);
  if (found == values_.end()) return {};
  // A value that a pass made in place of another one has no span of its own.
  const Span span = found->second.value->span();
  return span.known() ? span : found->second.binding;
}

const Expr* Definitions::Resolve(const Expr* expr) const {
  while (const auto* var = As<Var>(expr)) {
    const Expr* value = Find(var);
    if (value == nullptr) break;
    const bool stands_for_value = Is<Call>(value) || Is<ShapeExpr>(value) || Is<PrimValue>(value) ||
                                  Is<iropt::Tuple>(value) || Is<Var>(value) || Is<Constant>(value);
    if (!stands_for_value) break;
    expr = value;
  }
  return expr;
}

const Expr* Definitions::BeforeScalar(const Expr* condition) const {
  const auto* var = As<Var>(condition);
  const auto* call = var ? As<Call>(Find(var)) : nullptr;
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (op == nullptr || op->id != op::kReshape) return nullptr;
  const auto* type = As<TensorType>(call->args[0]->type);
  if (type == nullptr || !type->known) return nullptr;
  const auto is_one = [](const PrimExpr* dim) {
    const auto* number = As<tir::IntImm>(dim);
    return number != nullptr && number->value == 1;
  };
  return std::ranges::all_of(type->dims, is_one) ? call->args[0] : nullptr;
}

const Expr* Definitions::ConditionOf(const If* conditional) const {
  const Expr* tensor = BeforeScalar(conditional->cond);
  return tensor ? tensor : conditional->cond;
}

bool Definitions::IsFieldUsed(const Var* tuple, size_t i) const {
  const auto* found = fields_.Find(tuple);
  return found && i < found->size() && (*found)[i];
}

const FusedNode* Definitions::FusedAt(const Var* var) const { return fused_.Find(var); }

std::shared_ptr<const NDArray> OneHotValues(const PrimValue& on, const PrimValue& off, DataType dtype) {
  auto values = NDArray::Make(dtype, {2});
  const PrimExpr* const numbers[] = {off.value, on.value};
  for (size_t i = 0; i < 2; ++i) {
    const auto* integer = As<tir::IntImm>(numbers[i]);
    const auto* real = As<tir::FloatImm>(numbers[i]);
    if (integer == nullptr && real == nullptr) return nullptr;
    const double number = integer ? static_cast<double>(integer->value) : real->value;
    const Tensor element = MakeScalarTensor(dtype.is_floating() ? Scalar::Float(number, dtype)
                                                                : Scalar::Int(static_cast<int64_t>(number), dtype));
    std::memcpy(values->mutable_data() + i * element->num_bytes(), element->data(), element->num_bytes());
  }
  return values;
}

// ---- Matching

namespace {

// Returns whether a node may compute the value again that other nodes need as well. It is one node at most, which stays
// for the others; if they take it in as well, it is dead.
bool MayBeShared(const Expr* value) {
  const auto* call = As<Call>(value);
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (op == nullptr) return false;
  const bool is_square = op->id == op::kMultiply && call->args[0] == call->args[1];
  return is_square || IsOneOf(*op, op::kLess, op::kGreater, op::kAbs, op::kMod, op::kPermuteDims);
}

}  // namespace

const Call* Matcher::Inner(const Expr* operand, OpId id) {
  const auto* var = As<Var>(operand);
  const auto* call = var ? As<Call>(definitions_->Find(var)) : nullptr;
  const auto* op = call ? As<Op>(call->op) : nullptr;
  if (op == nullptr || op->id != id) return nullptr;
  ++inner_[var];
  return call;
}

const Expr* Matcher::Spread(const Expr* a, const Expr* b) const {
  if (IsSame(a, b)) return a;
  for (const auto& [whole, part] : {std::pair(a, b), std::pair(b, a)}) {
    const auto* call = As<Call>(definitions_->Resolve(whole));
    const auto* op = call ? As<Op>(call->op) : nullptr;
    if (op != nullptr && op->id == op::kBroadcastTo && IsSame(call->args[0], part)) return whole;
  }
  return nullptr;
}

void Matcher::Use(const Expr* operand) {
  if (const auto* var = As<Var>(operand); var != nullptr && inner_.contains(var)) ++inner_[var];
}

const iropt::Constant* Matcher::ConstantOf(const Expr* operand) const {
  return As<iropt::Constant>(definitions_->Resolve(operand));
}

std::optional<double> Matcher::Number(const Expr* operand) const {
  const iropt::Constant* constant = ConstantOf(operand);
  if (constant == nullptr || constant->data->num_elements() != 1 || !constant->data->shape().empty())
    return std::nullopt;
  const std::optional<iropt::Scalar> scalar = ScalarOf(*constant->data);
  return scalar ? std::optional(scalar->ToDouble()) : std::nullopt;
}

bool Matcher::TakesAllUses(const Var* var) const {
  const auto found = inner_.find(var);
  const auto* uses = definitions_->uses_.Find(var);
  return found != inner_.end() && uses && *uses == found->second && !definitions_->absorbed_.contains(var);
}

bool Matcher::IsClosed() const {
  const auto is_inner = [&](const Expr* operand) { return Is<Var>(operand) && inner_.contains(To<Var>(operand)); };
  return std::ranges::all_of(inner_, [&](const auto& entry) {
    if (TakesAllUses(entry.first)) return true;
    // What stays needs its operands.
    const Expr* value = definitions_->Find(entry.first);
    return MayBeShared(value) && !definitions_->absorbed_.contains(entry.first) &&
           std::ranges::none_of(To<Call>(value)->args, is_inner);
  });
}

}  // namespace iropt::onnx
