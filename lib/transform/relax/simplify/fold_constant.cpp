// FoldConstant: folds constant expressions, and removes dead bindings.
//
//   with R.dataflow():                                  with R.dataflow():
//       lv = R.add(R.const(1.0), R.const(2.0))              gv = R.multiply(x, R.const(3.0))
//       gv = R.multiply(x, lv)                   -->        R.output(gv)
//       R.output(gv)                                    return gv
//   return gv
//
// A variable that is bound to a constant, in the program or by folding, is replaced by the constant in all uses, and
// operators that take a shape get the shape instead of a variable for it. Operators are folded within dataflow blocks,
// calls of PrimFuncs (call_tir) everywhere. Calls that have effects, are random, would make big constants out of small
// ones (see FoldOptions) or have an undefined result are not folded, nor is what a call_tir_inplace overwrites; since
// TVM 0.24 also not what makes more than 1024 elements without taking tensors. Dead bindings are removed. A
// conditional whose condition is known becomes the branch that is taken, as in Relay's pass.
//
// One walk in the order of execution, with a table of known values by variable: O(bindings), plus the evaluation.
//
// Source: the rules are those of TVM 0.18's pass of this name; the operators are evaluated by kernels, while TVM
// compiles them.
#include "iropt/transform/relax/simplify/fold_constant.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "configs/relax.count_folded_calls.h"
#include "configs/relax.max_constant_bytes.h"
#include "configs/relax.max_constant_growth.h"
#include "constant_evaluator.h"
#include "foldable_functions.h"
#include "iropt/analysis/relax/file_bytes.h"
#include "iropt/analysis/relax/overwritten_vars.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/ir/rewrite_limit.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/quantize.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/remark.h"
#include "iropt/pass/statistic.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "iropt/transform/options/FoldConstant.h"
#include "iropt/transform/relax/simplify/dead_code_elimination.h"
#include "transform/relax/util/missed_remarks.h"
#include "transform/relax/util/network_mode.h"
#include "transform/relax/util/operator_name.h"

namespace iropt {

namespace {

// A fact about a variable. A value that is not a constant keeps its variable, or gets one of a more precise type.
struct Fact {
  enum class Kind : uint8_t {
    kVar,       // no more than the variable that replaces it
    kConstant,  // a tensor, which replaces every use
    kShape,     // a shape, which replaces an operand of an operator
    kTuple,     // a tuple of known values
  };
  Kind kind = Kind::kVar;
  HostValue value;                // of a constant and of a tuple
  const Expr* literal = nullptr;  // of a constant, null until needed; of a shape
  const Type* type = nullptr;     // of a constant
  const Var* renamed = nullptr;   // null if the variable stays
  Span place = {};                // where the constant that it is a form of comes from
};

constexpr Statistic kFoldedCalls("FoldConstant", "folded-calls", "calls that were replaced by their values");
constexpr Statistic kKnownBranches("FoldConstant", "known-branches", "conditionals that were replaced by a branch");
constexpr Statistic kDeclinedCalls("FoldConstant", "declined-calls", "calls of constants beyond the limits");
constexpr Statistic kRemovedFoldedBindings("FoldConstant", "removed-bindings", "dead bindings that were removed");

class ConstantFolder : private ExprRewriter<ConstantFolder> {
 public:
  ConstantFolder(const Function& function, const Module& module, Workspace& workspace, TypeInferrer& inferrer,
                 const FoldOptions& options)
      : ExprRewriter(workspace, &inferrer), evaluator_(function, module, options), fact_ids_(workspace.num_vars(), 0) {}

  const Function* Fold(const Function* function) { return Rebuild(*function, VisitExpr(function->body)); }
  // Variables, by Var::id, that do not become constants.
  void KeepVars(std::vector<bool> vars) { kept_ = std::move(vars); }
  // Calls that are not folded.
  void KeepCalls(const LookupSet<const Call*>& calls) { kept_calls_ = &calls; }
  // The call that the constant is the value of; null if it is not.
  const Call* FoldedCall(const NDArray* constant) const { return folded_calls_.Lookup(constant).call; }
  // The calls whose values have at least so many bytes.
  std::vector<const Call*> FoldedCalls(size_t min_bytes) const {
    std::vector<const Call*> calls;
    folded_calls_.ForEachInAnyOrder([&](const NDArray*, const FoldedCallOf& folded) {
      if (folded.bytes >= min_bytes) calls.push_back(folded.call);
    });
    return calls;
  }
  const ConstantEvaluator::Declined& declined() const { return evaluator_.declined(); }
  uint64_t folded() const { return folded_; }
  // What the folded calls came from: a node of a model that was read may be several calls.
  uint64_t branches() const { return branches_; }

 private:
  friend class ExprRewriter<ConstantFolder>;

  // The call that a tensor is the value of, and the size of the tensor.
  struct FoldedCallOf {
    const Call* call = nullptr;
    size_t bytes = 0;
  };

  // ---- Facts

  const Fact* FactOf(const Expr* expr) const {
    if (facts_.empty() || !Is<Var>(expr)) return nullptr;
    const uint32_t index = fact_ids_[static_cast<const Var*>(expr)->id];
    return index == 0 ? nullptr : &facts_[index - 1];
  }

  void RecordFact(const Var* var, Fact fact) {
    facts_.push_back(std::move(fact));
    fact_ids_[var->id] = static_cast<uint32_t>(facts_.size());
  }

  // The nodes of constants are made on demand: most constants are only operands of calls that are folded, too.
  const Expr* LiteralOf(const Var* var) {
    Fact& fact = facts_[fact_ids_[var->id] - 1];
    if (!fact.literal) fact.literal = MakeTensor(std::get<Tensor>(fact.value.state), fact.type, fact.place);
    return fact.literal;
  }

  const Expr* MakeTensor(const Tensor& tensor, const Type* type, Span place = {}) {
    workspace().arena().Retain(tensor);
    auto* constant = workspace().New<Constant>(tensor.get(), type);
    constant->set_span(place);
    return constant;
  }

  // Where the operand comes from that the result is another form of: a constant with as many elements, for which a
  // format has a name. Unknown if there is none.
  Span PlaceOfForm(const Expr* value, const Tensor& result) const {
    const auto* call = As<Call>(value);
    if (call == nullptr || result->num_elements() <= 1) return {};
    for (const Expr* arg : call->args) {
      const auto* constant = As<Constant>(arg);
      const Fact* fact = constant == nullptr ? FactOf(arg) : nullptr;
      const bool is_known = fact != nullptr && fact->kind == Fact::Kind::kConstant;
      const NDArray* array = constant ? constant->data : is_known ? std::get<Tensor>(fact->value.state).get() : nullptr;
      const Span place = constant ? constant->span() : is_known ? fact->place : Span();
      if (array != nullptr && array->num_elements() == result->num_elements() && place.known()) return place;
    }
    return {};
  }

  // The value of an operand, if known.
  std::optional<HostValue> FindValue(const Expr* expr) {
    if (const Fact* fact = FactOf(expr)) {
      if (fact->kind == Fact::Kind::kShape) return LiteralValue(fact->literal);
      return fact->kind == Fact::Kind::kVar ? std::nullopt : std::optional(fact->value);
    }
    const auto* tuple = As<Tuple>(expr);
    if (!tuple) return LiteralValue(expr);
    // Nested tuples are not evaluated; if each level names the one below twice, their values would grow exponentially.
    for (const Expr* field : tuple->fields) {
      const Fact* fact = FactOf(field);
      if (Is<Tuple>(field) || (fact && fact->kind == Fact::Kind::kTuple)) return std::nullopt;
    }
    std::optional<std::vector<HostValue>> fields = KnownAll(tuple->fields);
    if (!fields) return std::nullopt;
    return HostValue(TupleValue{*std::move(fields)});
  }

  std::optional<std::vector<HostValue>> KnownAll(List<const Expr*> exprs) {
    // Most calls have an unknown operand; this is checked before anything is copied.
    for (const Expr* expr : exprs) {
      if (Is<Var>(expr) && !FactOf(expr)) return std::nullopt;
    }
    std::vector<HostValue> values;
    values.reserve(exprs.size());
    for (const Expr* expr : exprs) {
      std::optional<HostValue> value = FindValue(expr);
      if (!value) return std::nullopt;
      values.push_back(*std::move(value));
    }
    return values;
  }

  // ---- Expressions

  const Expr* VisitVar(const Var* var) {
    const Fact* fact = FactOf(var);
    if (!fact) return var;
    if (fact->kind == Fact::Kind::kConstant) return LiteralOf(var);
    return fact->renamed ? fact->renamed : var;
  }

  const Expr* VisitTupleGetItem(const TupleGetItem* item) {
    const size_t index = static_cast<size_t>(item->index);
    const Fact* fact = FactOf(item->tuple);
    const TupleValue* known = fact && fact->kind == Fact::Kind::kTuple ? fact->value.tuple() : nullptr;
    if (known && index < known->fields.size()) {
      const auto* tensor = std::get_if<Tensor>(&known->fields[index].state);
      if (tensor && AllowRewrite("folded-projection", *item))
        return MakeTensor(*tensor, ConstantType(**tensor, item->type));
    }
    return ExprRewriter::VisitTupleGetItem(item);
  }

  // A local function, like a branch, has blocks of its own.
  const Expr* VisitFunction(const Function* function) { return Fold(function); }

  const Expr* VisitSeqExpr(const SeqExpr* seq) {
    const bool outer = std::exchange(in_dataflow_, false);
    const bool has_branches =
        std::ranges::any_of(seq->blocks, [](const BindingBlock* block) { return HasConditional(*block); });
    const Expr* result = has_branches ? VisitConditionals(*seq) : ExprRewriter::VisitSeqExpr(seq);
    in_dataflow_ = outer;
    return result;
  }

  // ---- Conditionals. Where the condition is known, the blocks of the branch take the place of the binding.

  static bool HasConditional(const BindingBlock& block) {
    return !block.is_dataflow() &&
           std::ranges::any_of(block.bindings, [](const Binding* binding) { return Is<If>(ValueOf(binding)); });
  }

  const Expr* VisitConditionals(const SeqExpr& seq) {
    std::vector<const BindingBlock*> blocks;
    for (const BindingBlock* block : seq.blocks) {
      if (HasConditional(*block)) {
        VisitConditionals(*block, blocks);
      } else {
        blocks.push_back(VisitBlock(block));
      }
    }
    const bool same = std::ranges::equal(blocks, seq.blocks);
    const Expr* body = VisitExpr(seq.body);
    return Rebuild(seq, same ? seq.blocks : workspace().Copy(blocks), body);
  }

  void VisitConditionals(const BindingBlock& block, std::vector<const BindingBlock*>& blocks) {
    std::vector<const Binding*> bindings;
    bool is_whole = true;
    const auto close = [&] {
      const bool same = is_whole && std::ranges::equal(bindings, block.bindings);
      if (same || !bindings.empty())
        blocks.push_back(Rebuild(block, same ? block.bindings : workspace().Copy(bindings)));
      bindings.clear();
    };
    for (const Binding* binding : block.bindings) {
      const Binding* visited = VisitBinding(binding);
      const SeqExpr* branch = visited ? KnownBranch(*visited) : nullptr;
      if (branch != nullptr && AllowRewrite("known-branch", *binding)) {
        is_whole = false;
        close();
        blocks.insert(blocks.end(), branch->blocks.begin(), branch->blocks.end());
        visited = IsKept(*binding) ? Rebind(*binding, branch->body) : Bind(*binding, branch->body);
        ++branches_;
      }
      if (visited) bindings.push_back(visited);
    }
    close();
  }

  // The branch that is taken, or null.
  static const SeqExpr* KnownBranch(const Binding& binding) {
    const auto* conditional = As<If>(ValueOf(&binding));
    const auto* condition = conditional ? As<Constant>(conditional->cond) : nullptr;
    const std::optional<Scalar> value = condition ? ScalarOf(*condition->data) : std::nullopt;
    if (!value) return nullptr;
    return As<SeqExpr>(value->ToInt().value_or(0) != 0 ? conditional->true_branch : conditional->false_branch);
  }

  const BindingBlock* VisitBlock(const BindingBlock* block) {
    in_dataflow_ = block->is_dataflow();
    const BindingBlock* result = ExprRewriter::VisitBlock(block);
    in_dataflow_ = false;
    return result;
  }

  // ---- Bindings. Null if the variable became a constant, which replaces every use: the binding is
  // dropped.

  const Binding* VisitBinding(const Binding* binding) {
    const Expr* old = ValueOf(binding);
    if (IsKept(*binding)) return KeepBinding(*binding);
    if (binding->kind == NodeKind::kMatchCast) return ExprRewriter::VisitBinding(binding);
    if (old->kind != NodeKind::kCall) return Bind(*binding, VisitExpr(old));
    std::optional<HostValue> value;
    const Expr* call = RewriteCall(*static_cast<const Call*>(old), &value);
    return value ? BindValue(*binding, *std::move(value), call->type) : Rebind(*binding, call);
  }

  bool IsKept(const Binding& binding) const { return !kept_.empty() && kept_[binding.var->id]; }

  // The binding with folded operands only.
  const Binding* KeepBinding(const Binding& binding) {
    const auto* call = As<Call>(ValueOf(&binding));
    return call ? Rebuild(binding, binding.var, ExprRewriter::VisitCall(call)) : ExprRewriter::VisitBinding(&binding);
  }

  const Binding* Bind(const Binding& binding, const Expr* value) {
    if (!IsPropagated(binding, *value)) return Rebind(binding, value);
    if (value->kind == NodeKind::kConstant) {
      const Tensor tensor = static_cast<const Constant*>(value)->data->shared_from_this();
      RecordFact(binding.var, {Fact::Kind::kConstant, tensor, value, value->type, nullptr, value->span()});
      return nullptr;
    }
    Fact fact;
    if (value->kind == NodeKind::kShapeExpr) {
      fact.kind = Fact::Kind::kShape;
      fact.literal = value;
    } else if (value->kind == NodeKind::kTuple) {
      if (std::optional<HostValue> tuple = FindValue(value)) {
        fact.kind = Fact::Kind::kTuple;
        fact.value = *std::move(tuple);
      }
    }
    return Rebind(binding, value, std::move(fact));
  }

  // Returns whether uses of the variable may become the value, if it is one.
  static bool IsPropagated(const Binding& binding, const Expr& value) {
    const bool is_value =
        value.kind == NodeKind::kConstant || value.kind == NodeKind::kShapeExpr || value.kind == NodeKind::kTuple;
    return !is_value || AllowRewrite("propagated-value", binding);
  }

  // The variable of a call that was evaluated.
  const Binding* BindValue(const Binding& binding, HostValue value, const Type* type) {
    const auto* tensor = std::get_if<Tensor>(&value.state);
    if (!tensor) return Bind(binding, MakeLiteral(value, workspace()));
    const Type* constant_type = ConstantType(**tensor, type);
    const Span place = PlaceOfForm(ValueOf(&binding), *tensor);
    RecordFact(binding.var, {Fact::Kind::kConstant, std::move(value), nullptr, constant_type, nullptr, place});
    return nullptr;
  }

  // A variable gets the type of its changed value.
  const Binding* Rebind(const Binding& binding, const Expr* value, Fact fact = {}) {
    const Var* var = binding.var;
    if (value != ValueOf(&binding) && value->type && var->type) var = rebuilder().RetypeVar(var, value->type);
    if (var != binding.var) fact.renamed = var;
    if (fact.renamed || fact.kind != Fact::Kind::kVar) RecordFact(binding.var, std::move(fact));
    return Rebuild(binding, var, value);
  }

  // ---- Calls

  const Expr* VisitCall(const Call* call) {
    std::optional<HostValue> value;
    const Expr* rewritten = RewriteCall(*call, &value);
    if (!value) return rewritten;
    const auto* tensor = std::get_if<Tensor>(&value->state);
    return tensor ? MakeTensor(*tensor, ConstantType(**tensor, rewritten->type)) : MakeLiteral(*value, workspace());
  }

  // The call with rewritten operands, and its value if that could be computed.
  const Expr* RewriteCall(const Call& call, std::optional<HostValue>* value) {
    const auto* op = As<Op>(call.op);
    if (!op || (workspace().version() >= TextVersion::kV0_24 && IsBigCreation(call)))
      return ExprRewriter::VisitCall(&call);
    if (kept_calls_ != nullptr && kept_calls_->contains(&call)) return ExprRewriter::VisitCall(&call);
    if (op->id == op::kCallTir) {
      const Expr* rewritten = ExprRewriter::VisitCall(&call);
      *value = EvalCallTir(*To<Call>(rewritten));
      if (*value && !AllowRewrite("folded-call", call)) value->reset();
      if (*value) CountFolded(call, *op, **value);
      return rewritten;
    }
    const bool is_packed = in_dataflow_ && ConstantEvaluator::MayFoldPacked(call);
    if (is_packed || (in_dataflow_ && evaluator_.MayFold(*op->info))) {
      const auto args =
          KnownAll(is_packed ? List<const Expr*>(call.args.begin() + 1, call.args.size() - 1) : call.args);
      if (args) {
        *value = is_packed ? evaluator_.EvalPacked(call, *args) : evaluator_.EvalOperator(call, *op->info, *args);
      }
      if (*value && !AllowRewrite("folded-call", call)) value->reset();
      if (*value) {
        CountFolded(call, *op, **value);
        return &call;
      }
    }
    return Rebuild(call, op, MapList(call.args, workspace(), [this](const Expr* arg) { return RewriteOperand(arg); }));
  }

  // Makes many elements without taking any: doing it when the program runs is cheaper than storing the result.
  static bool IsBigCreation(const Call& call) {
    static constexpr int64_t kMost = 1024;
    const auto* type = As<TensorType>(call.type);
    if (!type || !type->known) return false;
    int64_t elements = 1;
    for (const PrimExpr* dim : type->dims) {
      const int64_t* value = arith::AsInt(dim);
      if (!value || *value <= 0) return false;
      elements = elements > kMost / *value ? kMost + 1 : elements * *value;
    }
    return elements > kMost && std::ranges::none_of(call.args, HasTensor);
  }
  static bool HasTensor(const Expr* arg) {
    if (arg->type && Is<TensorType>(arg->type)) return true;
    const auto* tuple = As<Tuple>(arg);
    return tuple && WithStack([&] { return std::ranges::any_of(tuple->fields, HasTensor); });
  }

  void CountFolded(const Call& call, const Op& op, const HostValue& value) {
    ++folded_;
    if (kept_calls_ != nullptr) {
      ForEachTensor(value, [&](const Tensor& tensor) {
        folded_calls_.try_emplace(tensor.get(), FoldedCallOf{&call, tensor->num_bytes()});
      });
    }
    if (!WantsRemarks()) return;
    RemarkPassed("folded-call", Location(call),
                 fmt::format("the call of {} is replaced by its value", op.info->script));
  }

  // Replaces operands that are variables for shapes by the shapes.
  const Expr* RewriteOperand(const Expr* expr) {
    const Fact* fact = FactOf(expr);
    return fact && fact->kind == Fact::Kind::kShape ? fact->literal : VisitOperand(expr);
  }

  std::optional<HostValue> EvalCallTir(const Call& call) {
    if (call.args.size() < 2) return std::nullopt;
    const std::optional<HostValue> args = FindValue(call.args[1]);
    if (!args || !args->tuple()) return std::nullopt;
    ShapeValue tir_vars;
    if (call.args.size() > 2) {
      const std::optional<HostValue> shape = FindValue(call.args[2]);
      if (!shape || !shape->shape()) return std::nullopt;
      tir_vars = *shape->shape();
    }
    return evaluator_.EvalCallTir(call, call.args[0], args->tuple()->fields, tir_vars);
  }

  ConstantEvaluator evaluator_;
  bool in_dataflow_ = false;
  uint64_t folded_ = 0;     // the number of calls
  uint64_t branches_ = 0;   // that took the place of conditionals
  std::vector<bool> kept_;  // by Var::id; empty if all may become constants
  const LookupSet<const Call*>* kept_calls_ = nullptr;
  // If calls may have to be kept.
  LookupMap<const NDArray*, FoldedCallOf> folded_calls_;
  std::vector<uint32_t> fact_ids_;  // by Var::id: index in facts_ plus one, 0 if nothing is known
  std::vector<Fact> facts_;
};

// The constants of functions, each once, in the order of their uses.
struct ConstantsOfFunction : WalkHandler {
  explicit ConstantsOfFunction(const Function& function) { Walk(function, *this); }
  explicit ConstantsOfFunction(const Module& module) {
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* function = As<Function>(entry.func)) Walk(*function, *this);
    }
  }
  void OnConstant(const Constant& constant) {
    if (!seen.insert(constant.data)) return;
    list.push_back(constant.data);
    bytes += constant.data->num_bytes();
  }

  LookupSet<const NDArray*> seen;
  std::vector<const NDArray*> list;
  size_t bytes = 0;
};

// The calls whose values make the function grow by more than the limit, the biggest ones first; `smallest` becomes the
// size of the last one.
std::vector<const Call*> GrowingCalls(const Function& before, const Function& after, const ConstantFolder& folder,
                                      const FoldOptions& options, size_t& smallest) {
  const ConstantsOfFunction old_constants(before);
  ConstantsOfFunction constants(after);
  size_t bytes = options.counts_calls ? FileBytesOf(after) : constants.bytes;
  const size_t most = (options.counts_calls ? FileBytesOf(before) : old_constants.bytes) + *options.max_growth;
  std::ranges::stable_sort(constants.list, std::greater(), &NDArray::num_bytes);
  std::vector<const Call*> calls;
  for (const NDArray* constant : constants.list) {
    if (bytes <= most) break;
    const Call* call = old_constants.seen.contains(constant) ? nullptr : folder.FoldedCall(constant);
    if (call == nullptr) continue;
    calls.push_back(call);
    smallest = constant->num_bytes();
    bytes -= options.counts_calls ? FileBytesOf(*constant) : constant->num_bytes();
  }
  return calls;
}

// Quantized constants are to stay that: where constants may not grow, runtimes look for what dequantizes them.
LookupSet<const Call*> DequantizingCalls(const Function& function) {
  struct Handler : WalkHandler {
    void OnCall(const Call& call) {
      if (IsOp(call.op, op::kDequantize)) calls.insert(&call);
    }
    LookupSet<const Call*> calls;
  } handler;
  Walk(function, handler);
  return std::move(handler.calls);
}

void Report(const ConstantFolder& folder, const Function& folded, DiagnosticEngine& diagnostics) {
  if (const ConstantEvaluator::Declined& declined = folder.declined(); declined.count > 0) {
    std::string message = fmt::format("a call of constants is not folded: {}", declined.reason);
    if (declined.count > 1) message += fmt::format("; it is the first of {} such calls", declined.count);
    RemarkMissed(diagnostics, "fold-limit", Location(*declined.first), std::move(message));
  }
  RemarkUnboundParams(folded);
}

}  // namespace

const Function* FoldConstants(const Function* function, const Module& module, Workspace& workspace,
                              const FoldOptions& options, DiagnosticEngine* diagnostics) {
  OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
  LookupSet<const Call*> kept;
  if (options.max_growth) kept = DequantizingCalls(*function);
  // What a call that is kept was computed from may be too big as well, and what that was computed from. After so many
  // tries, all calls with results as big as these are kept, and then all others.
  constexpr int kMostTries = 16;
  for (int tries = 1;; ++tries) {
    ConstantFolder folder(*function, module, workspace, inferrer, options);
    if (OverwritesVars(*function, &module)) folder.KeepVars(OverwrittenVars(*function, workspace.num_vars(), &module));
    if (options.max_growth) folder.KeepCalls(kept);
    const Function* folded = folder.Fold(function);
    uint64_t removed = 0;
    const Function* result = RemoveDeadBindings(folded, &module, workspace, &removed);
    if (options.max_growth) {
      size_t smallest = 0;
      const std::vector<const Call*> growing = GrowingCalls(*function, *result, folder, options, smallest);
      kept.InsertAll(growing);
      if (tries >= kMostTries && !growing.empty())
        kept.InsertAll(folder.FoldedCalls(tries > kMostTries ? 0 : smallest));
      if (!growing.empty()) continue;
    }
    if (diagnostics) Report(folder, *folded, *diagnostics);
    kFoldedCalls.Add(folder.folded());
    kKnownBranches.Add(folder.branches());
    kDeclinedCalls.Add(folder.declined().count);
    kRemovedFoldedBindings.Add(removed);
    return result;
  }
}

// By how many bytes the constants of each of `functions` may grow, so that those of the module keep to its limit.
std::optional<size_t> MaxGrowth(const PassContext& context, const Module& module, size_t functions) {
  const int64_t of_function = context.Config(config::relax::max_constant_growth);
  const int64_t of_all = context.Config(config::relax::max_constant_bytes);
  if (of_all < 0) return of_function < 0 ? std::nullopt : std::optional(static_cast<size_t>(of_function));
  const bool counts_calls = context.Config(config::relax::count_folded_calls);
  const size_t bytes = counts_calls ? FileBytesOf(module) : ConstantsOfFunction(module).bytes;
  const size_t left = (static_cast<size_t>(of_all) - std::min(bytes, static_cast<size_t>(of_all))) / functions;
  return of_function < 0 ? left : std::min(left, static_cast<size_t>(of_function));
}

// One pass run has one budget, of which each function has the same part, whatever the order they are worked on.
FoldOptions ShareOf(FoldOptions options, const PassContext& context, const Module& module) {
  const auto count =
      std::ranges::count_if(module.functions(), [](const ModuleEntry& entry) { return Is<Function>(entry.func); });
  const size_t functions = std::max<size_t>(static_cast<size_t>(count), 1);
  options.max_total_bytes /= functions;
  options.max_total_work /= functions;
  options.max_growth = MaxGrowth(context, module, std::max<size_t>(CountFoldable(module), 1));
  options.counts_calls = context.Config(config::relax::count_folded_calls);
  options.mode = NetworkModeOf(context);
  return options;
}

Pass CreateFoldConstant(const PassOptions& options) {
  const pass_options::FoldConstant given(options);
  FoldOptions fold;
  fold.max_bytes = static_cast<size_t>(options.Count(given.max_bytes));
  fold.max_file_bytes = static_cast<size_t>(options.Count(given.max_file_bytes));
  fold.skip_ops = OperatorsOf(options, given.skip_ops);
  return CreateFunctionPass(options.info(), [fold](const Module&) -> FunctionPassFn {
    // The first function computes what all of them share.
    struct Share {
      std::once_flag once;
      FoldOptions options;
    };
    return [fold, share = std::make_shared<Share>()](const Function* function,
                                                     FunctionPassContext& context) -> Result<const Function*> {
      std::call_once(share->once, [&] { share->options = ShareOf(fold, context.context(), context.module()); });
      return FoldConstants(function, context.module(), context.workspace(), share->options, &context.diagnostics());
    };
  });
}

}  // namespace iropt
