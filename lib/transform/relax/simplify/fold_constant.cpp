// FoldConstant: computes at compile time what depends on constants only.
//
//   with R.dataflow():                                  with R.dataflow():
//       lv = R.add(R.const(1.0), R.const(2.0))              gv = R.multiply(x, R.const(3.0))
//       gv = R.multiply(x, lv)                   -->        R.output(gv)
//       R.output(gv)                                    return gv
//   return gv
//
// A variable that is bound to a constant, in the program or by folding, becomes the constant wherever it is used, and
// operators that take a shape get the shape instead of a variable for it. Operators are folded within dataflow blocks,
// calls of loop-level functions (call_tir) everywhere. What has effects, is random, would make big constants out of
// small ones (see FoldOptions) or has no defined result stays. Bindings that nothing needs any more go.
//
// One walk in the order of execution, with a table of what is known by variable: O(bindings), besides the evaluation.
//
// Source: the rules are those of TVM 0.18's pass of this name; the operators are evaluated here, where TVM compiles
// them.
#include "iropt/transform/relax/simplify/fold_constant.h"

#include <algorithm>

#include "constant_evaluator.h"
#include "iropt/support/stack.h"
#include "iropt/transform/passes.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/util/rewrite.h"

namespace iropt {

namespace {

// What is known of a variable. What is no constant keeps its variable, or one of a more precise type in its place.
struct Fact {
  enum class Kind : uint8_t {
    kVar,       // no more than the variable that takes its place
    kConstant,  // a tensor, which takes the place of every use
    kShape,     // a shape, which takes the place of an operand of an operator
    kTuple,     // a tuple of known values
  };
  Kind kind = Kind::kVar;
  HostValue value;                // of a constant and of a tuple
  const Expr* literal = nullptr;  // of a constant, null until one is needed; of a shape
  const Type* type = nullptr;     // of a constant
  const Var* renamed = nullptr;   // null where the variable stays
};

class ConstantFolder {
 public:
  ConstantFolder(const Module& module, Workspace& workspace, const FoldOptions& options)
      : make_(&module, workspace), evaluator_(module, options), fact_ids_(workspace.num_vars(), 0) {}

  const Function* Fold(const Function* function) {
    const bool outer = in_dataflow_;
    in_dataflow_ = false;
    const Expr* body = Rewrite(function->body);
    in_dataflow_ = outer;
    return make_.With(*function, body);
  }

 private:
  // ---- Facts

  const Fact* FactOf(const Expr* expr) const {
    if (facts_.empty() || !Is<Var>(expr)) return nullptr;
    const uint32_t index = fact_ids_[static_cast<const Var*>(expr)->id];
    return index == 0 ? nullptr : &facts_[index - 1];
  }

  void Learn(const Var* var, Fact fact) {
    facts_.push_back(std::move(fact));
    fact_ids_[var->id] = static_cast<uint32_t>(facts_.size());
  }

  // The nodes of constants are made when something refers to them: most are only operands of what is folded, too.
  const Expr* LiteralOf(const Var* var) {
    Fact& fact = facts_[fact_ids_[var->id] - 1];
    if (!fact.literal) fact.literal = MakeTensor(std::get<Tensor>(fact.value.state), fact.type);
    return fact.literal;
  }

  const Expr* MakeTensor(const Tensor& tensor, const Type* type) {
    make_.workspace().arena().Retain(tensor);
    return make_.workspace().New<Constant>(tensor.get(), type);
  }

  // The value of an operand, where it is known.
  std::optional<HostValue> Known(const Expr* expr) {
    if (const Fact* fact = FactOf(expr)) {
      if (fact->kind == Fact::Kind::kShape) return LiteralValue(fact->literal);
      return fact->kind == Fact::Kind::kVar ? std::nullopt : std::optional(fact->value);
    }
    const auto* tuple = As<Tuple>(expr);
    if (!tuple) return LiteralValue(expr);
    // Tuples of tuples are no operands; where each level names the one below twice, their values would grow without
    // bound.
    for (const Expr* field : tuple->fields) {
      const Fact* fact = FactOf(field);
      if (Is<Tuple>(field) || (fact && fact->kind == Fact::Kind::kTuple)) return std::nullopt;
    }
    std::optional<std::vector<HostValue>> fields = KnownAll(tuple->fields);
    if (!fields) return std::nullopt;
    return HostValue(TupleValue{*std::move(fields)});
  }

  std::optional<std::vector<HostValue>> KnownAll(List<const Expr*> exprs) {
    // Most calls have an operand of which nothing is known; that is found out before anything is copied.
    for (const Expr* expr : exprs) {
      if (Is<Var>(expr) && !FactOf(expr)) return std::nullopt;
    }
    std::vector<HostValue> values;
    values.reserve(exprs.size());
    for (const Expr* expr : exprs) {
      std::optional<HostValue> value = Known(expr);
      if (!value) return std::nullopt;
      values.push_back(*std::move(value));
    }
    return values;
  }

  // ---- Expressions. Each function returns its argument where nothing below changes.

  const Expr* Rewrite(const Expr* expr) {
    switch (expr->kind) {
      case NodeKind::kVar:
      case NodeKind::kDataflowVar: return RewriteVar(static_cast<const Var*>(expr));
      case NodeKind::kCall:
      case NodeKind::kTuple:
      case NodeKind::kTupleGetItem:
      case NodeKind::kIf:
      case NodeKind::kSeqExpr:
      case NodeKind::kFunction: return WithStack([&] { return RewriteCompound(expr); });
      default: return expr;
    }
  }

  const Expr* RewriteCompound(const Expr* expr) {
    switch (expr->kind) {
      case NodeKind::kCall: return RewriteNestedCall(*To<Call>(expr));
      case NodeKind::kTuple: return make_.With(*To<Tuple>(expr), RewriteAll(To<Tuple>(expr)->fields));
      case NodeKind::kTupleGetItem: return RewriteItem(*To<TupleGetItem>(expr));
      case NodeKind::kIf: return RewriteIf(*To<If>(expr));
      case NodeKind::kSeqExpr: return RewriteSeq(*To<SeqExpr>(expr));
      default: return Fold(To<Function>(expr));
    }
  }

  const Expr* RewriteVar(const Var* var) {
    const Fact* fact = FactOf(var);
    if (!fact) return var;
    if (fact->kind == Fact::Kind::kConstant) return LiteralOf(var);
    return fact->renamed ? fact->renamed : var;
  }

  List<const Expr*> RewriteAll(List<const Expr*> exprs) {
    return MapList(exprs, make_.workspace(), [this](const Expr* expr) { return Rewrite(expr); });
  }

  const Expr* RewriteItem(const TupleGetItem& item) {
    const size_t index = static_cast<size_t>(item.index);
    const Fact* fact = FactOf(item.tuple);
    const TupleValue* known = fact && fact->kind == Fact::Kind::kTuple ? fact->value.tuple() : nullptr;
    if (known && index < known->fields.size()) {
      const auto* tensor = std::get_if<Tensor>(&known->fields[index].state);
      if (tensor) return MakeTensor(*tensor, ConstantType(**tensor, item.type));
    }
    return make_.With(item, Rewrite(item.tuple));
  }

  const Expr* RewriteIf(const If& branch) {
    const Expr* cond = Rewrite(branch.cond);
    const Expr* true_branch = Rewrite(branch.true_branch);
    return make_.With(branch, cond, true_branch, Rewrite(branch.false_branch));
  }

  const Expr* RewriteSeq(const SeqExpr& seq) {
    const bool outer = in_dataflow_;
    const List<const BindingBlock*> blocks =
        MapList(seq.blocks, make_.workspace(), [this](const BindingBlock* block) { return RewriteBlock(*block); });
    in_dataflow_ = false;
    const Expr* body = Rewrite(seq.body);
    in_dataflow_ = outer;
    return make_.With(seq, blocks, body);
  }

  const BindingBlock* RewriteBlock(const BindingBlock& block) {
    in_dataflow_ = block.is_dataflow();
    ListEditor<const Binding*> bindings(block.bindings, binding_pool_);
    for (const Binding* old : block.bindings) {
      const Binding* binding = RewriteBinding(*old);
      // A local function or a branch has blocks of its own.
      in_dataflow_ = block.is_dataflow();
      if (binding) {
        bindings.Replace(binding);
      } else {
        bindings.Drop();
      }
    }
    return make_.With(block, bindings.Finish(make_.workspace()));
  }

  // ---- Bindings. Null where the variable became a constant: every use becomes the constant, and the binding has no
  // purpose.

  const Binding* RewriteBinding(const Binding& binding) {
    const Expr* old = ValueOf(&binding);
    if (binding.kind == NodeKind::kMatchCast) return make_.With(binding, binding.var, Rewrite(old));
    if (old->kind != NodeKind::kCall) return Bind(binding, Rewrite(old));
    std::optional<HostValue> value;
    const Expr* call = RewriteCall(*static_cast<const Call*>(old), &value);
    return value ? BindValue(binding, *std::move(value), call->type) : Rebind(binding, call);
  }

  const Binding* Bind(const Binding& binding, const Expr* value) {
    if (value->kind == NodeKind::kConstant) {
      const Tensor tensor = static_cast<const Constant*>(value)->data->shared_from_this();
      Learn(binding.var, {Fact::Kind::kConstant, tensor, value, value->type, nullptr});
      return nullptr;
    }
    Fact fact;
    if (value->kind == NodeKind::kShapeExpr) {
      fact.kind = Fact::Kind::kShape;
      fact.literal = value;
    } else if (value->kind == NodeKind::kTuple) {
      if (std::optional<HostValue> tuple = Known(value)) {
        fact.kind = Fact::Kind::kTuple;
        fact.value = *std::move(tuple);
      }
    }
    return Rebind(binding, value, std::move(fact));
  }

  // The variable of a call that was evaluated.
  const Binding* BindValue(const Binding& binding, HostValue value, const Type* type) {
    const auto* tensor = std::get_if<Tensor>(&value.state);
    if (!tensor) return Bind(binding, MakeLiteral(value, make_.workspace()));
    const Type* constant_type = ConstantType(**tensor, type);
    Learn(binding.var, {Fact::Kind::kConstant, std::move(value), nullptr, constant_type, nullptr});
    return nullptr;
  }

  // A variable takes on the type of a value that changed.
  const Binding* Rebind(const Binding& binding, const Expr* value, Fact fact = {}) {
    const Var* var = binding.var;
    if (value != ValueOf(&binding) && value->type && var->type) var = make_.WithType(var, value->type);
    if (var != binding.var) fact.renamed = var;
    if (fact.renamed || fact.kind != Fact::Kind::kVar) Learn(binding.var, std::move(fact));
    return make_.With(binding, var, value);
  }

  // ---- Calls

  const Expr* RewriteNestedCall(const Call& call) {
    std::optional<HostValue> value;
    const Expr* rewritten = RewriteCall(call, &value);
    if (!value) return rewritten;
    const auto* tensor = std::get_if<Tensor>(&value->state);
    return tensor ? MakeTensor(*tensor, ConstantType(**tensor, rewritten->type))
                  : MakeLiteral(*value, make_.workspace());
  }

  // The call with rewritten operands, and its value where that could be computed.
  const Expr* RewriteCall(const Call& call, std::optional<HostValue>* value) {
    const auto* op = As<Op>(call.op);
    if (!op) return With(call, Rewrite(call.op), RewriteAll(call.args));
    if (op == call_tir_) {
      const Expr* rewritten = With(call, op, RewriteAll(call.args));
      *value = EvalCallTir(*To<Call>(rewritten));
      return rewritten;
    }
    if (in_dataflow_ && ConstantEvaluator::IsFoldable(*op->info)) {
      if (const auto args = KnownAll(call.args)) *value = evaluator_.EvalOperator(call, *op->info, *args);
      if (*value) return &call;
    }
    return With(call, op,
                MapList(call.args, make_.workspace(), [this](const Expr* arg) { return RewriteOperand(arg); }));
  }

  // Operands that are variables for shapes become the shapes.
  const Expr* RewriteOperand(const Expr* expr) {
    const Fact* fact = FactOf(expr);
    return fact && fact->kind == Fact::Kind::kShape ? fact->literal : Rewrite(expr);
  }

  const Expr* With(const Call& call, const Expr* op, List<const Expr*> args) {
    return make_.With(call, op, args, call.type_args, /*always=*/false);
  }

  std::optional<HostValue> EvalCallTir(const Call& call) {
    if (call.args.size() < 2) return std::nullopt;
    const std::optional<HostValue> args = Known(call.args[1]);
    if (!args || !args->tuple()) return std::nullopt;
    ShapeValue tir_vars;
    if (call.args.size() > 2) {
      const std::optional<HostValue> shape = Known(call.args[2]);
      if (!shape || !shape->shape()) return std::nullopt;
      tir_vars = *shape->shape();
    }
    return evaluator_.EvalCallTir(call, call.args[0], args->tuple()->fields, tir_vars);
  }

  NodeMaker make_;
  ConstantEvaluator evaluator_;
  const Op* const call_tir_ = GetOp("relax.call_tir");
  bool in_dataflow_ = false;
  std::vector<uint32_t> fact_ids_;  // by Var::id: index in facts_ plus one, 0 where nothing is known
  std::vector<Fact> facts_;
  std::vector<const Binding*> binding_pool_;
};

}  // namespace

const Function* FoldConstants(const Function* function, const Module& module, Workspace& workspace,
                              const FoldOptions& options) {
  const Function* folded = ConstantFolder(module, workspace, options).Fold(function);
  return RemoveDeadBindings(folded, &module, workspace);
}

Pass CreateFoldConstant(const PassOptions& options) {
  FoldOptions fold;
  fold.max_bytes = static_cast<size_t>(std::max<int64_t>(options.Int("max_bytes"), 0));
  return CreateFunctionPass(options.info(),
                            [fold](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              return FoldConstants(function, context.module(), context.workspace(), fold);
                            });
}

}  // namespace iropt
