#include "iropt/ir/relax/normalizer.h"

#include <algorithm>

#include "iropt/ir/relax/builder.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

bool IsFlatOperand(const Expr* operand) {
  if (IsLeaf(operand)) return true;
  if (operand->kind != NodeKind::kTuple || !operand->type) return false;
  return WithStack([&] { return HasFlatOperands(operand); });
}

bool HasFlatOperands(const Expr* value) {
  switch (value->kind) {
    case NodeKind::kCall: {
      const auto& call = *static_cast<const Call*>(value);
      return IsLeaf(call.op) && std::ranges::all_of(call.args, IsFlatOperand);
    }
    case NodeKind::kTuple: return std::ranges::all_of(static_cast<const Tuple*>(value)->fields, IsFlatOperand);
    case NodeKind::kTupleGetItem: return IsLeaf(static_cast<const TupleGetItem*>(value)->tuple);
    default: return true;
  }
}

// The part of the builder that brings expressions into A-normal form. Each node is visited once and the result is built
// on the way; work below a SeqExpr that the builder made itself is not repeated. O(nodes).
class BlockBuilder::Normalizer final : public ExprFunctor<const Expr*(const Expr*)> {
 public:
  explicit Normalizer(BlockBuilder& builder)
      : builder_(builder), rebuilder_(builder.workspace_, nullptr, Retype::kLeaveOpen) {}

  const Expr* VisitArgument(const Expr* arg) {
    if (IsLeaf(arg) || Is<Tuple>(arg)) return VisitExpr(arg);
    IROPT_CHECK(builder_.in_block(), "a nested operand outside of any block");
    const Frame& frame = builder_.top();
    if (const auto found = frame.normalized.find(arg); found != frame.normalized.end()) return found->second;
    const Expr* var = builder_.Emit(VisitExpr(arg));
    builder_.top().normalized.emplace(arg, var);
    return var;
  }

 private:
  // Leaves are in normal form; PrimFuncs are not visited.
  const Expr* VisitDefault(const Expr* expr) override { return expr; }

  // A variable without a value stands for the empty tuple in all its uses.
  const Expr* VisitVar(const Var* var) override {
    if (const auto* found = typed_.Find(var)) var = *found;
    const auto* type = As<TupleType>(var->type);
    if (!type || !type->fields.empty()) return var;
    return NewLike<Tuple>(workspace(), *var, List<const Expr*>(), TupleType::Get({}));
  }

  const Expr* VisitDataflowVar(const DataflowVar* var) override { return typed_.Lookup(var, var); }

  const Expr* VisitTuple(const Tuple* tuple) override {
    const bool nests = std::ranges::any_of(tuple->fields, [](const Expr* field) { return Is<Tuple>(field); });
    if (!nests || !builder_.in_block()) return VisitOperands(tuple);
    // A mutator asks for each level, from the inside out.
    const Frame& frame = builder_.top();
    if (const auto found = frame.normalized.find(tuple); found != frame.normalized.end()) return found->second;
    const Expr* result = VisitOperands(tuple);
    builder_.top().normalized.emplace(result, result);
    return result;
  }
  const Expr* VisitTupleGetItem(const TupleGetItem* item) override { return VisitOperands(item); }
  const Expr* VisitCall(const Call* call) override { return VisitOperands(call); }

  template <class X>
  const Expr* VisitOperands(const X* old) {
    const Expr* visited = MapOperands(old, rebuilder_, [this](const Expr* operand) { return VisitArgument(operand); });
    if (visited->type != nullptr) return visited;
    // A node that was made a moment ago is not shared yet.
    Expr* open = visited == old ? workspace().template New<X>(*old) : const_cast<Expr*>(visited);
    open->type = builder_.InferType(open);
    return open;
  }

  const Expr* VisitIf(const If* expr) override {
    const Expr* cond = VisitArgument(expr->cond);
    const Expr* true_branch = VisitScope(expr->true_branch);
    const Expr* false_branch = VisitScope(expr->false_branch);
    const bool same = cond == expr->cond && true_branch == expr->true_branch && false_branch == expr->false_branch;
    if (same && expr->type != nullptr) return expr;
    If* branch = NewLike<If>(workspace(), *expr, cond, true_branch, false_branch, nullptr);
    branch->type = builder_.InferType(branch);
    return branch;
  }

  const Expr* VisitFunction(const Function* func) override {
    const Expr* body = VisitScope(func->body);
    if (body == func->body && func->type != nullptr) return func;
    const Type* ret_type = func->ret_type ? func->ret_type : ReturnType(func->params, body->type);
    auto* function =
        NewLike<Function>(workspace(), *func, func->params, body, ret_type, func->is_pure, func->attrs, func->type);
    if (function->type == nullptr) function->type = builder_.InferType(function);
    return function;
  }

  const Type* ReturnType(List<const Var*> params, const Type* body) {
    return body && builder_.inferrer() ? builder_.inferrer()->ReturnType(params, body) : body;
  }

  const Expr* VisitSeqExpr(const SeqExpr* seq) override {
    if (seq->flags & SeqExpr::kNormalized) return seq;
    std::vector<const BindingBlock*> blocks;
    bool changed = false;
    for (const BindingBlock* block : seq->blocks) {
      blocks.push_back(VisitBlock(block));
      changed |= blocks.back() != block;
    }
    // Bindings for the result are inserted at the SeqExpr: into a block of the enclosing kind.
    builder_.BeginBlock(builder_.in_block() && builder_.current_block_is_dataflow());
    const Expr* body = VisitArgument(seq->body);
    blocks.push_back(builder_.EndBlock());
    changed |= body != seq->body || !blocks.back()->bindings.empty() || seq->type == nullptr;
    if (!changed && IsJoined(seq)) return seq;
    return builder_.Seq(blocks, body, seq->span());
  }

  // Returns whether there is nothing to drop, to merge or to flatten.
  static bool IsJoined(const SeqExpr* seq) {
    for (size_t i = 0; i < seq->blocks.size(); ++i) {
      const BindingBlock* block = seq->blocks[i];
      if (block->bindings.empty() || (i > 0 && seq->blocks[i - 1]->kind == block->kind)) return false;
      for (const Binding* binding : block->bindings) {
        if (Is<SeqExpr>(ValueOf(binding))) return false;
      }
    }
    return true;
  }

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    builder_.BeginBlock(block->is_dataflow());
    bool changed = false;
    for (const Binding* binding : block->bindings) {
      const Binding* normal = VisitBinding(binding);
      changed |= normal != binding;
      builder_.EmitNormalized(normal);
    }
    changed |= builder_.current_bindings().size() != block->bindings.size();
    if (changed) return builder_.EndBlock();
    builder_.DropBlock();
    return block;
  }

  const Binding* VisitBinding(const Binding* binding) {
    const Expr* value = VisitExpr(ValueOf(binding));
    const auto* cast = As<MatchCast>(binding);
    const Var* var = binding->var;
    if (var->type == nullptr)
      var = GiveType(var, cast ? cast->match_type : value->type ? value->type : builder_.InferType(value));
    return rebuilder_.Rebuild(*binding, var, value);
  }

  // A variable that replaces one that had no type.
  const Var* GiveType(const Var* var, const Type* type) {
    const Var* typed = NewVarLike(workspace(), *var, type);
    typed_.try_emplace(var, typed);
    return typed;
  }

  // A branch or a function body: a SeqExpr with a scope of its own.
  const Expr* VisitScope(const Expr* expr) {
    if (Is<SeqExpr>(expr)) {
      // Its bindings do not depend on the kind of the enclosing block.
      builder_.BeginBindingBlock();
      const Expr* seq = VisitExpr(expr);
      const BindingBlock* nothing = builder_.EndBlock();
      IROPT_CHECK(nothing->bindings.empty(), "bindings left over from a scope");
      return seq;
    }
    builder_.BeginBindingBlock();
    const Expr* body = VisitArgument(expr);
    const BindingBlock* block = builder_.EndBlock();
    return builder_.Seq({block}, body);
  }

  Workspace& workspace() { return builder_.workspace_; }

  BlockBuilder& builder_;
  Rebuilder rebuilder_;
  LookupMap<const Var*, const Var*> typed_;
};

const Expr* BlockBuilder::Normalize(const Expr* expr) {
  // Most calls are in normal form already.
  if (expr->kind == NodeKind::kCall && expr->type != nullptr && HasFlatOperands(expr)) return expr;
  return Normalizer(*this).VisitExpr(expr);
}

const Expr* BlockBuilder::NormalizeArgument(const Expr* arg) { return Normalizer(*this).VisitArgument(arg); }

}  // namespace iropt
