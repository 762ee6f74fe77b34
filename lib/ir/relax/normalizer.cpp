// The part of the builder that brings expressions into A-normal form. Each node is visited once and the result is built
// on the way; work below a SeqExpr that the builder made itself is not repeated. O(nodes).
#include "iropt/ir/relax/builder.h"
#include "iropt/ir/relax/visitor.h"

namespace iropt {

class BlockBuilder::Normalizer final : public ExprFunctor<const Expr*(const Expr*)> {
 public:
  explicit Normalizer(BlockBuilder& builder) : builder_(builder) {}

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
  // Leaves are normal; loop-level functions are none of our business.
  const Expr* VisitDefault(const Expr* expr) override { return expr; }

  // A variable of no value stands for the empty tuple wherever it is used.
  const Expr* VisitVar(const Var* var) override {
    if (const auto found = typed_.find(var); found != typed_.end()) var = found->second;
    const auto* type = As<TupleType>(var->type);
    return type && type->fields.empty() ? NewTuple({}, var) : var;
  }

  const Expr* VisitDataflowVar(const DataflowVar* var) override {
    const auto found = typed_.find(var);
    return found != typed_.end() ? found->second : var;
  }

  const Expr* VisitTuple(const Tuple* tuple) override {
    List<const Expr*> fields;
    if (VisitArguments(tuple->fields, &fields)) return NewTuple(fields, tuple);
    return tuple->type ? tuple : NewTuple(tuple->fields, tuple);
  }

  const Expr* NewTuple(List<const Expr*> fields, const Expr* old) {
    Tuple* tuple = workspace().New<Tuple>(fields, nullptr);
    return Finish(tuple, old);
  }

  const Expr* VisitTupleGetItem(const TupleGetItem* item) override {
    const Expr* tuple = VisitArgument(item->tuple);
    if (tuple == item->tuple && item->type != nullptr) return item;
    return Finish(workspace().New<TupleGetItem>(tuple, item->index, nullptr), item);
  }

  const Expr* VisitCall(const Call* call) override {
    const Expr* op = VisitArgument(call->op);
    List<const Expr*> args = call->args;
    const bool changed = VisitArguments(call->args, &args);
    if (op == call->op && !changed && call->type != nullptr) return call;
    return Finish(workspace().New<Call>(op, args, call->attrs, call->type_args, nullptr), call);
  }

  const Expr* VisitIf(const If* expr) override {
    const Expr* cond = VisitArgument(expr->cond);
    const Expr* true_branch = VisitScope(expr->true_branch);
    const Expr* false_branch = VisitScope(expr->false_branch);
    const bool same = cond == expr->cond && true_branch == expr->true_branch && false_branch == expr->false_branch;
    if (same && expr->type != nullptr) return expr;
    return Finish(workspace().New<If>(cond, true_branch, false_branch, nullptr), expr);
  }

  const Expr* VisitFunction(const Function* func) override {
    const Expr* body = VisitScope(func->body);
    if (body == func->body && func->type != nullptr) return func;
    const Type* ret_type = func->ret_type ? func->ret_type : ReturnType(func->params, body->type);
    return Finish(workspace().New<Function>(func->params, body, ret_type, func->is_pure, func->attrs, func->type),
                  func);
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
    // Bindings that the result needs go where the SeqExpr is: into a block of the kind around it.
    builder_.BeginBlock(builder_.in_block() && builder_.current_block_is_dataflow());
    const Expr* body = VisitArgument(seq->body);
    blocks.push_back(builder_.EndBlock());
    changed |= body != seq->body || !blocks.back()->bindings.empty() || seq->type == nullptr;
    if (!changed && IsJoined(seq)) return seq;
    return builder_.Seq(blocks, body, seq->span());
  }

  // Whether there is nothing to drop, to merge or to flatten.
  static bool IsJoined(const SeqExpr* seq) {
    for (size_t i = 0; i < seq->blocks.size(); ++i) {
      const BindingBlock* block = seq->blocks[i];
      if (block->bindings.empty() || (i > 0 && seq->blocks[i - 1]->kind == block->kind)) return false;
      for (const Binding* binding : block->bindings) {
        const auto* var_binding = As<VarBinding>(binding);
        if (Is<SeqExpr>(var_binding ? var_binding->value : To<MatchCast>(binding)->value)) return false;
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
    if (const auto* match_cast = As<MatchCast>(binding)) {
      const Expr* value = VisitExpr(match_cast->value);
      const Var* var = WithType(binding->var, match_cast->match_type);
      if (value == match_cast->value && var == binding->var) return binding;
      return Like(workspace().New<MatchCast>(var, value, match_cast->match_type), binding);
    }
    const Expr* old_value = To<VarBinding>(binding)->value;
    const Expr* value = VisitExpr(old_value);
    const Var* var = binding->var;
    if (var->type == nullptr) var = WithType(var, value->type ? value->type : builder_.InferType(value));
    if (value == old_value && var == binding->var) return binding;
    return Like(workspace().New<VarBinding>(var, value), binding);
  }

  // The variable, or one that stands for it from here on where it had no type.
  const Var* WithType(const Var* var, const Type* type) {
    if (var->type != nullptr) return var;
    Var* typed =
        var->is_dataflow() ? workspace().NewDataflowVar(var->name(), type) : workspace().NewVar(var->name(), type);
    typed_.emplace(var, Like(typed, var));
    return typed;
  }

  // A branch or a function body: a SeqExpr with a scope of its own.
  const Expr* VisitScope(const Expr* expr) {
    if (Is<SeqExpr>(expr)) {
      // What is in it does not concern the kind of block around.
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

  // True where something changed; then `*result` is the new list.
  bool VisitArguments(List<const Expr*> args, List<const Expr*>* result) {
    for (size_t i = 0; i < args.size(); ++i) {
      const Expr* arg = VisitArgument(args[i]);
      if (arg == args[i]) continue;
      const std::span<const Expr*> changed = workspace().arena().NewArray<const Expr*>(args.size());
      std::copy(args.begin(), args.begin() + i, changed.begin());
      changed[i] = arg;
      for (++i; i < args.size(); ++i) changed[i] = VisitArgument(args[i]);
      *result = changed;
      return true;
    }
    return false;
  }

  template <class X>
  const X* Like(X* made, const Node* old) {
    made->set_span(old->span());
    return made;
  }
  template <class X>
  const X* Finish(X* made, const Expr* old) {
    made->set_span(old->span());
    if (made->type == nullptr) made->type = builder_.InferType(made);
    return made;
  }

  Workspace& workspace() { return builder_.workspace_; }

  BlockBuilder& builder_;
  std::unordered_map<const Var*, const Var*> typed_;
};

const Expr* BlockBuilder::Normalize(const Expr* expr) { return Normalizer(*this).VisitExpr(expr); }

const Expr* BlockBuilder::NormalizeArgument(const Expr* arg) { return Normalizer(*this).VisitArgument(arg); }

}  // namespace iropt
