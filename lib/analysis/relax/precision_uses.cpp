#include "iropt/analysis/relax/precision_uses.h"

#include <algorithm>
#include <utility>

#include "iropt/ir/relax/tuple_leaves.h"
#include "iropt/op/op_id.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/slice.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// The dtypes of the tensors of an operand.
struct Dtypes {
  bool single = false;
  bool other = false;  // neither float16 nor float32 nor integers

  void Add(const Type* type) {
    ForEachLeaf(type, [this](const Type* leaf) {
      const auto* tensor = As<TensorType>(leaf);
      if (!tensor) return;
      single |= tensor->dtype == kSingle;
      other |= tensor->dtype != kSingle && tensor->dtype != kHalf && !tensor->dtype.is_integer();
    });
  }
};

}  // namespace

MixedPrecision PrecisionPolicy(const Call& call, TextVersion version) {
  const auto* op = As<Op>(call.op);
  if (!op) return MixedPrecision::kNever;
  // The policies of these came with TVM 0.23.
  if (IsOneOf(*op, op::kNnConv1dTranspose, op::kNnConv2dTranspose, op::kDynamicStridedSlice) &&
      version < TextVersion::kV0_23)
    return MixedPrecision::kNever;
  if (op->info->mixed_precision != MixedPrecision::kAlways) return op->info->mixed_precision;
  Dtypes dtypes;
  for (const Expr* arg : call.args) dtypes.Add(arg->type);
  return dtypes.single && !dtypes.other ? MixedPrecision::kAlways : MixedPrecision::kNever;
}

PrecisionUses::PrecisionUses(const Function& function, uint32_t num_vars, TextVersion version)
    : version_(version), roots_(num_vars, -1), params_(num_vars) {
  VisitFunction(function);
}

PrecisionUses::Place PrecisionUses::Field(Place place, uint32_t index) const {
  if (place.node < 0) return place;
  const Node& node = nodes_[place.node];
  return {node.fields < 0 ? -1 : node.fields + static_cast<int32_t>(index), std::max(place.whole, node.use)};
}

PrecisionUse PrecisionUses::Use(Place place) const {
  return place.node < 0 ? place.whole : std::max(place.whole, nodes_[place.node].use);
}

std::span<const Var* const> PrecisionUses::ParamsIn(const BindingBlock* block) const {
  const auto found = params_in_.find(block);
  return found == params_in_.end() ? std::span<const Var* const>() : found->second;
}

void PrecisionUses::VisitFunction(const Function& function) {
  for (const Var* param : function.params) params_[param->id] = {param, num_params_++};
  VisitScope(function.body);
}

void PrecisionUses::VisitScope(const Expr* body) {
  const BindingBlock* around = std::exchange(block_, nullptr);
  if (const auto* seq = As<SeqExpr>(body)) {
    RequireAll(seq->body, PrecisionUse::kFull);
    for (uint32_t i = seq->blocks.size(); i-- > 0;) VisitBlock(*seq->blocks[i]);
  }
  block_ = around;
}

void PrecisionUses::VisitBlock(const BindingBlock& block) {
  block_ = block.is_dataflow() ? &block : nullptr;
  for (uint32_t i = block.bindings.size(); i-- > 0;) {
    const Binding& binding = *block.bindings[i];
    if (!block.is_dataflow()) {
      VisitNested(ValueOf(&binding));
    } else if (const auto* var_binding = As<VarBinding>(&binding)) {
      VisitValue(*var_binding);
    } else {
      RequireAll(ValueOf(&binding), PrecisionUse::kFull);
    }
  }
  block_ = nullptr;
  const auto params = params_in_.find(&block);
  if (params == params_in_.end()) return;
  std::ranges::sort(params->second, {}, [this](const Var* var) { return params_[var->id].index; });
}

void PrecisionUses::VisitValue(const VarBinding& binding) {
  switch (binding.value->kind) {
    case NodeKind::kCall: {
      const auto& call = *static_cast<const Call*>(binding.value);
      const bool half = PrecisionPolicy(call, version_) == MixedPrecision::kAlways;
      for (const Expr* arg : call.args) RequireAll(arg, half ? PrecisionUse::kHalf : PrecisionUse::kFull);
      return;
    }
    case NodeKind::kTuple: return Require(binding.value, Of(binding.var));
    case NodeKind::kTupleGetItem: {
      const auto& item = *static_cast<const TupleGetItem*>(binding.value);
      const auto index = static_cast<uint32_t>(item.index);
      if (const auto* tuple = As<Tuple>(item.tuple)) return Require(tuple->fields[index], Of(binding.var));
      if (const auto* var = As<Var>(item.tuple)) {
        NoteParam(var);
        Merge(Of(binding.var), FieldNode(Root(var), index, *To<TupleType>(var->type)));
      }
      return;
    }
    case NodeKind::kFunction:
    case NodeKind::kIf: return VisitNested(binding.value);
    default: return RequireAll(binding.value, PrecisionUse::kFull);
  }
}

void PrecisionUses::VisitNested(const Expr* value) {
  if (const auto* function = As<Function>(value)) return WithStack([&] { VisitFunction(*function); });
  const auto* branch = As<If>(value);
  if (!branch) return;
  WithStack([&] { VisitScope(branch->true_branch); });
  WithStack([&] { VisitScope(branch->false_branch); });
}

void PrecisionUses::Require(const Expr* expr, Place place) {
  ForEachLeaf(expr, PlaceTree{*this, place}, [this](const Expr* leaf, const PlaceTree& tree) {
    const auto* var = As<Var>(leaf);
    if (!var) return;
    NoteParam(var);
    Merge(tree.place, Root(var));
  });
}

void PrecisionUses::Merge(Place from, int32_t to) {
  nodes_[to].use = std::max(nodes_[to].use, Use(from));
  if (from.node < 0 || nodes_[from.node].fields < 0) return;
  const Node fields = nodes_[from.node];
  if (nodes_[to].fields < 0) {
    nodes_[to].fields = static_cast<int32_t>(nodes_.size());
    nodes_[to].num_fields = fields.num_fields;
    nodes_.resize(nodes_.size() + fields.num_fields);
  }
  for (uint32_t i = 0; i < fields.num_fields; ++i) {
    const auto offset = static_cast<int32_t>(i);
    WithStack([&] { Merge({fields.fields + offset}, nodes_[to].fields + offset); });
  }
}

int32_t PrecisionUses::Root(const Var* var) {
  if (roots_[var->id] < 0) {
    roots_[var->id] = static_cast<int32_t>(nodes_.size());
    nodes_.emplace_back();
  }
  return roots_[var->id];
}

int32_t PrecisionUses::FieldNode(int32_t node, uint32_t index, const TupleType& type) {
  if (nodes_[node].fields < 0) {
    nodes_[node].fields = static_cast<int32_t>(nodes_.size());
    nodes_[node].num_fields = type.fields.size();
    nodes_.resize(nodes_.size() + type.fields.size());
  }
  return nodes_[node].fields + static_cast<int32_t>(index);
}

void PrecisionUses::NoteParam(const Var* var) {
  Param& param = params_[var->id];
  if (!param.var || !block_ || param.noted_in == block_) return;
  param.noted_in = block_;
  params_in_[block_].push_back(var);
}

}  // namespace iropt
