// A complete pass: a visitor that detects constants, a mutator that folds them, a free function, and a row in the
// registry, so that pipelines can name the pass. The library's own FoldConstant does more.
#include <iostream>
#include <unordered_map>

#include "iropt/driver/compiler_instance.h"
#include "iropt/eval/evaluator.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/op.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

constexpr const char* kModule = R"(
@R.function
def main(x: R.Tensor((2, 3), "float32")):
    with R.dataflow():
        pair = (R.const(1.0), x)
        one = pair[0]
        three = R.add(one, R.const(2.0))
        zeros = R.zeros(R.shape([2, 3]), "float32")
        scaled = R.multiply(pair[1], three)
        out = R.add(scaled, zeros)
        R.output(out)
    return out
)";

// Decides whether an expression is constant: a constant, or a tuple of constants. Results are cached. All other kinds
// are not constant.
class ConstantChecker : public ExprVisitor {
 public:
  bool Check(const Expr* expr) {
    if (const auto known = memo_.find(expr); known != memo_.end()) return known->second;
    VisitExpr(expr);
    return memo_[expr];
  }

 protected:
  void VisitConstant(const Constant* constant) override { memo_[constant] = true; }
  void VisitTuple(const Tuple* tuple) override {
    bool all = true;
    for (const Expr* field : tuple->fields) all = all && Check(field);
    memo_[tuple] = all;
  }

 private:
  std::unordered_map<const Expr*, bool> memo_;
};

class ConstantFolder : public ExprMutator {
 public:
  using ExprMutator::ExprMutator;

 protected:
  // The use of a variable that is bound to a constant becomes the constant.
  void VisitVarBinding(const VarBinding* binding) override {
    const Expr* value = VisitExpr(binding->value);
    if (Is<Constant>(value)) return Remap(binding->var, value);
    ReEmitBinding(binding, value);
  }

  // An element of a tuple whose fields are known is the field.
  const Expr* VisitTupleGetItem(const TupleGetItem* old) override {
    const auto* item = To<TupleGetItem>(ExprMutator::VisitTupleGetItem(old));
    const auto* var = As<Var>(item->tuple);
    const auto* tuple = As<Tuple>(var ? builder().LookupBinding(var) : item->tuple);
    return tuple ? tuple->fields[static_cast<size_t>(item->index)] : item;
  }

  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));  // with folded operands
    const auto* op = As<Op>(call->op);
    // Calls without operands, such as R.zeros, are small already. Calls with effects must stay.
    if (!op || !op->info->pure || call->args.empty()) return call;
    for (const Expr* arg : call->args) {
      if (!checker_.Check(arg)) return call;
    }
    const Expr* value = Evaluate(*call, *op);
    return value ? value : call;
  }

 private:
  // Null if there is no value: the operator has no kernel, or the result is not defined.
  const Expr* Evaluate(const Call& call, const Op& op) {
    std::vector<HostValue> args;
    for (const Expr* arg : call.args) args.push_back(*LiteralValue(arg));
    const Result<HostValue> value = EvalOp(*op.info, call.attrs, args);
    return value.ok() ? MakeLiteral(*value, workspace()) : nullptr;
  }

  ConstantChecker checker_;
};

// The transformation, which needs no pass manager.
const Function* FoldConstants(const Function* function, const Module& module, Workspace& workspace) {
  OpTypeInferrer inferrer(&module, workspace.arena(), nullptr);
  return To<Function>(ConstantFolder(workspace, &inferrer).VisitExpr(function));
}

// The pass.
Pass CreateMyFoldConstant(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              return FoldConstants(function, context.module(), context.workspace());
                            });
}

Status Run(CompilerInstance& compiler) {
  IROPT_RETURN_IF_ERROR(compiler.registry().Add({
      .info = {.name = "MyFoldConstant", .opt_level = 2, .required = {"Normalize"}, .kind = PassKind::Function},
      .options = {},
      .summary = "fold constant expressions",
      .create = CreateMyFoldConstant,
  }));

  IROPT_ASSIGN_OR_RETURN(const Pass pass, compiler.MakePass("MyFoldConstant,DeadCodeElimination"));
  IROPT_ASSIGN_OR_RETURN(Module module, compiler.ParseModule(kModule));
  PassContext context = compiler.MakeContext();
  IROPT_ASSIGN_OR_RETURN(const PassResult result, pass(std::move(module), context));
  std::cout << ModuleToString(result.module);
  return {};
}

int main() {
  CompilerInstance compiler;
  return compiler.Finish(Run(compiler));
}

// Prints:
//
//   # from tvm.script import relax as R
//
//   @R.function
//   def main(x: R.Tensor((2, 3), dtype="float32")) -> R.Tensor((2, 3), dtype="float32"):
//       with R.dataflow():
//           zeros: R.Tensor((2, 3), dtype="float32") = R.zeros(R.shape([2, 3]), dtype="float32")
//           lv: R.Tensor((2, 3), dtype="float32") = x
//           scaled: R.Tensor((2, 3), dtype="float32") = R.multiply(lv, R.const(3.0, "float32"))
//           out: R.Tensor((2, 3), dtype="float32") = R.add(scaled, zeros)
//           R.output(out)
//       return out
