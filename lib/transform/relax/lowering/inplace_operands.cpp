#include "inplace_operands.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "iropt/analysis/tir/reshape_pattern.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/legalize/legalize.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/nn.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/support/lookup.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

constexpr size_t kForever = std::numeric_limits<size_t>::max();

// Memory that a variable may refer to: new memory, a tuple of such values, or memory of values that came before.
struct MemoryNode {
  std::vector<uint32_t> parts = {};  // the fields of a tuple, or what it may share memory with; they come before it
  bool is_tuple = false;
  size_t last_use = 0;       // the binding that reads it last, or a tuple or a view of it
  size_t last_of_parts = 0;  // the same for all that it may refer to
};

// A function that copies to another shape may become a view.
bool IsReshape(const OpInfo& op, TextVersion version) {
  switch (op.id) {
    case op::kReshape:
    case op::kFlatten:
    case op::kExpandDims:
    case op::kSqueeze: return true;
    // Other operators that TVM 0.25 lets share memory.
    case op::kNnBatchFlatten:
    case op::kPermuteDims: return version >= TextVersion::kV0_25;
    default: return false;
  }
}

// Returns whether the call may only copy: an implementation may return the operand.
bool IsCopy(const Call& call) {
  if (IsOp(call.op, op::kPermuteDims)) return std::ranges::is_sorted(PermutationOf(call));
  const auto* from = IsOp(call.op, op::kAstype) ? As<TensorType>(call.args[0]->type) : nullptr;
  const auto* to = As<TensorType>(call.type);
  return from && to && from->dtype == to->dtype;
}

class BlockMemory {
 public:
  BlockMemory(const BindingBlock& block, const Module& module) : module_(module) {
    nodes_.push_back({.last_use = kForever});
    for (size_t i = 0; i < block.bindings.size(); ++i) AddBinding(*block.bindings[i], i);
    // A use of a tuple or a view is a use of its parts, which have lower numbers.
    for (size_t n = nodes_.size(); n-- > 0;) {
      for (const uint32_t part : nodes_[n].parts)
        nodes_[part].last_use = std::max(nodes_[part].last_use, nodes_[n].last_use);
    }
    for (MemoryNode& node : nodes_) {
      node.last_of_parts = node.last_use;
      for (const uint32_t part : node.parts)
        node.last_of_parts = std::max(node.last_of_parts, nodes_[part].last_of_parts);
    }
  }

  // Returns whether binding `index`, a call, may overwrite the operand.
  bool IsFree(const Call& call, const Expr* operand, size_t index) const {
    const auto* var = As<Var>(operand);
    const uint32_t node = var ? NodeOf(var) : kOutside;
    if (nodes_[node].last_of_parts > index) return false;
    // Another operand in that memory must be the same value.
    return std::ranges::none_of(call.args, [&](const Expr* arg) {
      const auto* other = As<Var>(arg);
      return other && NodeOf(other) != node && MayShare(NodeOf(other), node);
    });
  }

 private:
  static constexpr uint32_t kOutside = 0;

  uint32_t NodeOf(const Var* var) const { return node_of_.Lookup(var, kOutside); }

  // All nodes that a node may refer to; nothing if they are many.
  std::optional<std::vector<uint32_t>> PartsOf(uint32_t node) const {
    constexpr size_t kMaxParts = 32;
    std::vector<uint32_t> all = {node};
    for (size_t i = 0; i < all.size(); ++i) {
      for (const uint32_t part : nodes_[all[i]].parts) {
        if (std::ranges::find(all, part) == all.end()) all.push_back(part);
        if (all.size() > kMaxParts) return std::nullopt;
      }
    }
    return all;
  }

  bool MayShare(uint32_t a, uint32_t b) const {
    const auto parts_of_a = PartsOf(a);
    const auto parts_of_b = PartsOf(b);
    if (!parts_of_a || !parts_of_b) return true;
    return std::ranges::any_of(
        *parts_of_a, [&](uint32_t part) { return std::ranges::find(*parts_of_b, part) != parts_of_b->end(); });
  }

  uint32_t AddNode(MemoryNode node) {
    nodes_.push_back(std::move(node));
    return static_cast<uint32_t>(nodes_.size() - 1);
  }

  void AddBinding(const Binding& binding, size_t index) {
    const Expr* value = ValueOf(&binding);
    const uint32_t node = AddValue(value, binding.var->type);
    // To take an item does not read the others.
    if (!Is<TupleGetItem>(value)) AddUses(value, index);
    node_of_[binding.var] = node;
    const size_t last = binding.var->is_dataflow() ? index : kForever;
    nodes_[node].last_use = std::max(nodes_[node].last_use, last);
  }

  void AddUses(const Expr* value, size_t index) {
    struct UseAdder : WalkHandler {
      explicit UseAdder(BlockMemory& memory, size_t i) : memory_of(memory), index(i) {}
      void OnUse(const Var* var) {
        size_t& last = memory_of.nodes_[memory_of.NodeOf(var)].last_use;
        last = std::max(last, index);
      }
      BlockMemory& memory_of;
      size_t index;
    };
    UseAdder adder(*this, index);
    Walk(value, adder);
  }

  uint32_t AddValue(const Expr* value, const Type* type) {
    if (const auto* var = As<Var>(value)) return NodeOf(var);
    if (const auto* tuple = As<Tuple>(value)) {
      return WithStack([&] {
        MemoryNode node{.is_tuple = true};
        for (const Expr* field : tuple->fields) node.parts.push_back(AddValue(field, field->type));
        return AddNode(std::move(node));
      });
    }
    if (const auto* item = As<TupleGetItem>(value)) {
      const uint32_t tuple = AddValue(item->tuple, item->tuple->type);
      const auto index = static_cast<size_t>(item->index);
      // An item of an unknown tuple is any part of it.
      return nodes_[tuple].is_tuple && index < nodes_[tuple].parts.size() ? nodes_[tuple].parts[index] : tuple;
    }
    if (const auto* call = As<Call>(value)) {
      if (IsNew(*call)) return AddNew(type);
      return AddView(IsOp(call->op, op::kCallTir) ? call->args[1] : value);
    }
    return Is<Function>(value) ? AddView(value) : kOutside;
  }

  // New memory for a result of the type.
  uint32_t AddNew(const Type* type) {
    const auto* tuple = As<TupleType>(type);
    if (!tuple) return AddNode({});
    return WithStack([&] {
      MemoryNode node{.is_tuple = true};
      for (const Type* field : tuple->fields) node.parts.push_back(AddNew(field));
      return AddNode(std::move(node));
    });
  }

  // A value that may share memory with each variable that occurs in the expression.
  uint32_t AddView(const Expr* value) {
    struct VarCollector : WalkHandler {
      explicit VarCollector(const BlockMemory& memory) : memory_of(memory) {}
      void OnUse(const Var* var) { parts.push_back(memory_of.NodeOf(var)); }
      void OnConstant(const Constant&) { parts.push_back(kOutside); }
      // A function may return a constant.
      void OnGlobal(const GlobalVar*) { parts.push_back(kOutside); }
      const BlockMemory& memory_of;
      std::vector<uint32_t> parts;
    };
    VarCollector collector(*this);
    Walk(value, collector);
    return AddNode({.parts = std::move(collector.parts)});
  }

  // Returns whether the result of the call is not in the memory of an operand, now and after later passes.
  bool IsNew(const Call& call) {
    const auto* op = As<Op>(call.op);
    if (!op) return false;
    if (op->id == op::kCallTir) return !CallsReshape(call);
    return op->id == op::kCallDpsPacked ||
           (LegalizationOf(*op->info).legalize && !IsReshape(*op->info, module_.version()) && !IsCopy(call));
  }

  bool CallsReshape(const Call& call) {
    const auto* callee = As<GlobalVar>(call.args[0]);
    const ModuleEntry* entry = callee ? module_.Find(callee) : nullptr;
    const auto* function = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!function) return false;
    const auto [found, is_unseen] = is_reshape_.try_emplace(function);
    if (is_unseen) found = HasReshapePattern(*function);
    return found;
  }

  const Module& module_;
  std::vector<MemoryNode> nodes_;  // the first one stands for all that is outside of the block
  LookupMap<const Var*, uint32_t> node_of_;
  LookupMap<const PrimFunc*, bool> is_reshape_;
};

bool FitsExactly(const Type* result, const Type* operand) {
  const auto* to = As<TensorType>(result);
  const auto* from = As<TensorType>(operand);
  return to && from && to->known && from->known && !to->dtype.is_void() && to->dtype == from->dtype &&
         to->vdevice == from->vdevice && std::ranges::equal(to->dims, from->dims, arith::ProveEqual);
}

}  // namespace

InplaceOperands FindInplaceOperands(const BindingBlock& block, const Module& module,
                                    FunctionRef<bool(const Call&)> supports) {
  InplaceOperands found;
  const auto call_of = [](const Binding* binding) { return As<Call>(ValueOf(binding)); };
  const auto is_supported = [&](const Binding* binding) { return call_of(binding) && supports(*call_of(binding)); };
  if (std::ranges::none_of(block.bindings, is_supported)) return found;
  const BlockMemory memory(block, module);
  for (uint32_t i = 0; i < block.bindings.size(); ++i) {
    const Binding* binding = block.bindings[i];
    if (!is_supported(binding)) continue;
    const Call& call = *call_of(binding);
    for (uint32_t arg = call.args.size(); arg-- > 0;) {
      if (!memory.IsFree(call, call.args[arg], i) || !FitsExactly(binding->var->type, call.args[arg]->type)) continue;
      found.try_emplace(binding->var, arg);
      break;
    }
  }
  return found;
}

}  // namespace iropt
