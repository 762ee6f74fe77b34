// The plan has two steps. The first walks over the function and records the events of each tensor: its allocation and
// its uses. The second goes through the events and assigns storages.
#include "storage_planner.h"

#include <optional>
#include <utility>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/vm.h"
#include "iropt/support/debug_output.h"
#include "iropt/support/stack.h"
#include "storage_pool.h"
#include "tensor_tokens.h"

namespace iropt {

namespace {

constexpr DebugChannel kMemoryDebug("memory");

// A tensor that R.builtin.alloc_tensor allocates.
struct PlannedTensor {
  const Var* var = nullptr;
  StorageRequest request;
  uint32_t block = 0;      // that allocates it
  bool discarded = false;  // it may be used outside of what is known here: not planned
  bool pinned = false;     // it may be used outside, but TVM plans it: its storage is not reused
  uint32_t uses = 0;       // by functions that write to it or read it
  uint32_t all_uses = 0;   // those, and uses of what may be the same memory
};

enum class EventKind : uint8_t { kAlloc, kUse, kEnterScope, kLeaveScope, kEnterFunction, kLeaveFunction };

struct Event {
  EventKind kind;
  uint32_t tensor = 0;  // of an allocation or a use
};

// ---- The first step

class UseCollector {
 public:
  UseCollector(const Module& module, uint32_t num_vars, ShapeBounds& bounds)
      : module_(module), bounds_(bounds), tokens_of_(num_vars, TensorTokens::kNone) {}

  Status Run(const Function& function) { return VisitBody(function.body); }

  std::vector<PlannedTensor> tensors;
  std::vector<Event> events;

 private:
  using Tokens = TensorTokens::Id;

  Status VisitBody(const Expr* body) {
    return WithStack([&]() -> Status {
      const auto* seq = As<SeqExpr>(body);
      if (!seq) {
        DiscardAll(TokensOf(body));
        return {};
      }
      for (const BindingBlock* block : seq->blocks) IROPT_RETURN_IF_ERROR(VisitBlock(*block));
      DiscardAll(TokensOf(seq->body));
      return {};
    });
  }

  Status VisitBlock(const BindingBlock& block) {
    const uint32_t outer = std::exchange(block_, ++num_blocks_);
    // Variables that a dataflow block binds are not visible afterwards.
    if (block.is_dataflow()) events.push_back({EventKind::kEnterScope});
    for (const Binding* binding : block.bindings) IROPT_RETURN_IF_ERROR(VisitBinding(*binding));
    if (block.is_dataflow()) events.push_back({EventKind::kLeaveScope});
    block_ = outer;
    return {};
  }

  Status VisitBinding(const Binding& binding) {
    const Expr* value = ValueOf(&binding);
    Tokens tokens = TensorTokens::kNone;
    if (const auto* call = As<Call>(value)) {
      tokens = Is<VarBinding>(&binding) && IsOp(call->op, op::kBuiltinAllocTensor) ? NewTensor(binding.var, *call)
                                                                                   : VisitCall(*call);
    } else if (const auto* branch = As<If>(value)) {
      DiscardAll(TokensOf(branch->cond));
      IROPT_RETURN_IF_ERROR(VisitScope(EventKind::kEnterScope, branch->true_branch, EventKind::kLeaveScope));
      IROPT_RETURN_IF_ERROR(VisitScope(EventKind::kEnterScope, branch->false_branch, EventKind::kLeaveScope));
    } else if (const auto* function = As<Function>(value)) {
      IROPT_RETURN_IF_ERROR(bounds_.Add(*function));
      IROPT_RETURN_IF_ERROR(VisitScope(EventKind::kEnterFunction, function->body, EventKind::kLeaveFunction));
    } else {
      tokens = TokensOf(value);
    }
    // TVM does not see that the result of a match_cast is the same memory.
    if (Is<MatchCast>(&binding)) tokens = tokens_.MakeSoft(tokens);
    tokens_of_[binding.var->id] = tokens;
    return {};
  }

  Status VisitScope(EventKind enter, const Expr* body, EventKind leave) {
    events.push_back({enter});
    IROPT_RETURN_IF_ERROR(VisitBody(body));
    events.push_back({leave});
    return {};
  }

  Tokens TokensOf(const Expr* expr) {
    switch (expr->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return tokens_of_[static_cast<const Var*>(expr)->id];
      case NodeKind::kTuple: {
        std::vector<Tokens> fields;
        for (const Expr* field : static_cast<const Tuple*>(expr)->fields)
          fields.push_back(WithStack([&] { return TokensOf(field); }));
        return tokens_.Tuple(fields);
      }
      case NodeKind::kTupleGetItem: {
        const auto* item = static_cast<const TupleGetItem*>(expr);
        return tokens_.Field(TokensOf(item->tuple), static_cast<uint32_t>(item->index));
      }
      default: return TensorTokens::kNone;
    }
  }

  Tokens NewTensor(const Var* var, const Call& call) {
    const auto* type = As<TensorType>(call.type);
    const auto* device = call.args.size() == 4 ? As<PrimValue>(call.args[2]) : nullptr;
    const auto* scope = call.args.size() == 4 ? As<StringImm>(call.args[3]) : nullptr;
    const int64_t* index = device ? arith::AsInt(device->value) : nullptr;
    if (!type || !type->known || type->dtype.is_void() || !index || !scope) return TensorTokens::kNone;
    PlannedTensor tensor;
    tensor.var = var;
    const PrimExpr* bytes = BytesOf(*type);
    tensor.request = {scope->value, *index, type->dtype, bytes, arith::AsInt(bytes) ? bytes : bounds_.EqualSize(bytes)};
    tensor.block = block_;
    const auto number = static_cast<uint32_t>(tensors.size());
    tensors.push_back(tensor);
    events.push_back({EventKind::kAlloc, number});
    return tokens_.Leaf(number);
  }

  // The constant factors come first.
  const PrimExpr* BytesOf(const TensorType& type) {
    const arith::PrimBuilder make;
    const PrimExpr* constant = make.Int(ElementBytes(type.dtype));
    const PrimExpr* symbolic = make.Int(1);
    for (const PrimExpr* dim : bounds_.UpperBounds(type.dims)) {
      const PrimExpr*& factor = arith::AsInt(dim) ? constant : symbolic;
      factor = make.Mul(factor, dim);
    }
    return make.Mul(constant, symbolic);
  }

  // The result is the memory of the first operand.
  static bool IsView(const Expr* callee) {
    return IsOp(callee, op::kReshape) || IsOp(callee, op::kMemoryView) || IsOp(callee, op::kMemoryEnsureZeroOffset);
  }

  // The result of a reshape after lowering is the memory of its operand, too, which TVM knows since 0.27.
  static bool IsPackedReshape(const Call& call) {
    const auto* packed = As<ExternFunc>(call.op);
    return packed && !call.args.empty() && packed->global_symbol == "vm.builtin.reshape";
  }

  // Functions that do not keep their arguments.
  bool IsKnownCallee(const Expr* callee) const {
    if (Is<ExternFunc>(callee) || IsOp(callee, op::kVmCallTirDyn)) return true;
    const auto* name = As<GlobalVar>(callee);
    const ModuleEntry* entry = name ? module_.Find(name) : nullptr;
    return entry && Is<PrimFunc>(entry->func);
  }

  Tokens VisitCall(const Call& call) {
    if (IsView(call.op) && !call.args.empty()) return TokensOf(call.args[0]);
    if (module_.version() >= TextVersion::kV0_27 && IsPackedReshape(call)) return TokensOf(call.args[0]);
    const bool known = IsKnownCallee(call.op);
    for (const Expr* arg : call.args) {
      const Tokens tokens = TokensOf(arg);
      if (!known) DiscardAll(tokens);
      if (known) tokens_.ForEachLeaf(tokens, [&](uint32_t tensor, bool soft) { Use(tensor, soft); });
    }
    return IsPackedReshape(call) ? tokens_.MakeSoft(TokensOf(call.args[0])) : TensorTokens::kNone;
  }

  void Use(uint32_t number, bool soft) {
    PlannedTensor& tensor = tensors[number];
    if (tensor.block != block_) return Discard(number, soft);
    tensor.uses += soft ? 0 : 1;
    ++tensor.all_uses;
    events.push_back({EventKind::kUse, number});
  }

  void Discard(uint32_t number, bool soft) {
    tensors[number].pinned |= soft;
    tensors[number].discarded |= !soft;
  }
  void DiscardAll(Tokens tokens) {
    tokens_.ForEachLeaf(tokens, [&](uint32_t tensor, bool soft) { Discard(tensor, soft); });
  }

  const Module& module_;
  ShapeBounds& bounds_;
  TensorTokens tokens_;
  std::vector<Tokens> tokens_of_;  // by Var::id
  uint32_t block_ = 0;
  uint32_t num_blocks_ = 0;
};

// ---- The second step

class StorageAssigner {
 public:
  StorageAssigner(std::vector<PlannedTensor>& tensors, uint32_t num_vars)
      : tensors_(tensors), storage_of_tensor_(tensors.size(), StoragePlan::kNone), pools_(1) {
    plan_.storage_of.resize(num_vars, StoragePlan::kNone);
  }

  StoragePlan Run(const std::vector<Event>& events) {
    for (const Event& event : events) {
      switch (event.kind) {
        case EventKind::kAlloc: Allocate(event.tensor); break;
        case EventKind::kUse: Use(event.tensor); break;
        case EventKind::kEnterScope: scopes_.push_back(open_.size()); break;
        case EventKind::kLeaveScope: LeaveScope(); break;
        // A local function may run at any time after its definition, so it shares nothing with what is around it.
        case EventKind::kEnterFunction:
          scopes_.push_back(open_.size());
          pools_.emplace_back();
          break;
        case EventKind::kLeaveFunction:
          LeaveScope();
          pools_.pop_back();
          break;
      }
    }
    for (const StorageRequest& storage : storages_) plan_.storages.push_back({storage.bytes, storage.dtype});
    return std::move(plan_);
  }

 private:
  void Allocate(uint32_t number) {
    const PlannedTensor& tensor = tensors_[number];
    if (tensor.discarded) {
      IROPT_DEBUG(kMemoryDebug, "'{}' is not planned: it leaves its block, or a callee may keep it",
                  tensor.var->name());
      ++plan_.num_unplanned;
      return;
    }
    ++plan_.num_tensors;
    const int64_t* size = arith::AsInt(tensor.request.bytes);
    plan_.tensor_bytes += size ? *size : 0;
    plan_.num_symbolic += size == nullptr;
    std::optional<uint32_t> storage;
    if (tensor.uses != 0) storage = pools_.back().Take(tensor.request, closed_);
    IROPT_DEBUG(kMemoryDebug, "'{}' gets {} storage {}", tensor.var->name(), storage ? "the free" : "the new",
                storage.value_or(storages_.size()));
    if (!storage) {
      storage = static_cast<uint32_t>(storages_.size());
      storages_.push_back(tensor.request);
      closed_.push_back(false);
      open_.push_back(*storage);
    } else if (size && *size > *arith::AsInt(storages_[*storage].bytes)) {
      storages_[*storage].bytes = storages_[*storage].size_class = tensor.request.bytes;
    }
    storage_of_tensor_[number] = plan_.storage_of[tensor.var->id] = *storage;
  }

  void Use(uint32_t number) {
    PlannedTensor& tensor = tensors_[number];
    if (tensor.discarded || --tensor.all_uses != 0 || tensor.uses == 0 || tensor.pinned) return;
    const uint32_t storage = storage_of_tensor_[number];
    IROPT_DEBUG(kMemoryDebug, "storage {} is free after the last use of '{}'", storage, tensor.var->name());
    pools_.back().Release(storages_[storage], storage);
  }

  // The variables of storages that were allocated in the scope are not visible any more.
  void LeaveScope() {
    for (; open_.size() > scopes_.back(); open_.pop_back()) closed_[open_.back()] = true;
    scopes_.pop_back();
  }

  std::vector<PlannedTensor>& tensors_;
  StoragePlan plan_;
  std::vector<StorageRequest> storages_;     // with the size that they have so far
  std::vector<uint32_t> storage_of_tensor_;  // kNone for tensors that are not planned
  std::vector<StoragePool> pools_;           // of each enclosing function
  std::vector<bool> closed_;                 // by storage: out of scope
  std::vector<uint32_t> open_;               // the storages in scope
  std::vector<size_t> scopes_;               // for each scope, the size of open_ at its begin
};

}  // namespace

int64_t ElementBytes(DataType dtype) { return (dtype.bits + 7) / 8 * static_cast<int64_t>(dtype.lanes); }

Result<StoragePlan> PlanStorage(const Function& function, const Module& module, uint32_t num_vars,
                                ShapeBounds& bounds) {
  UseCollector collector(module, num_vars, bounds);
  IROPT_RETURN_IF_ERROR(collector.Run(function));
  return StorageAssigner(collector.tensors, num_vars).Run(collector.events);
}

}  // namespace iropt
