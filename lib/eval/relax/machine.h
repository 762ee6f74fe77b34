// The interpreter behind RunFunction. Functions and expressions are run in machine.cpp, operators that are more than
// their kernels in call_operators.cpp.
#pragma once

#include <unordered_map>

#include "frame_plan.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/relax/value_type.h"
#include "iropt/op/op.h"

namespace iropt::eval {

class RelaxMachine final : public PackedContext {
 public:
  RelaxMachine(const Module& module, DiagnosticEngine& diagnostics, const RunOptions& options);

  // `callee` is what captured variables come from; null for a function of the module.
  Result<HostValue> CallFunction(const Function& function, const FunctionValue* callee, std::vector<HostValue> args);

  // ---- For packed functions
  Result<HostValue> Invoke(const HostValue& callee, std::span<const HostValue> args) override;
  void Print(std::string_view line) override;
  Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) override;

  // Reports an error at an expression, unless it was reported.
  Failure Report(const Expr& at, Error error);

 private:
  // One call of a function.
  struct Frame {
    const Function& function;
    const FramePlan& plan;
    std::vector<HostValue> slots;
    SymbolValues symbols = {};

    HostValue& At(const Var* var) { return slots[plan.SlotOf(var)]; }
  };
  // Where the call of a function stands.
  struct CallSite {
    const Expr* at;  // null where it was not called from the program
    const Function* caller;
  };

  // ---- Functions

  const FramePlan& PlanOf(const Function& function);
  std::string_view NameOf(const Function& function) const;
  Status BindParams(Frame& frame, std::vector<HostValue> args);
  // Whether the value is of the type, whose free variables it binds; the error names both.
  Status Match(Frame& frame, const HostValue& value, const Type* type, std::string_view what, const Expr& at);

  // ---- Expressions

  Result<HostValue> Eval(const Expr* expr, Frame& frame);
  Result<HostValue> EvalSeq(const SeqExpr& seq, Frame& frame);
  Result<HostValue> EvalBinding(const Binding& binding, Frame& frame);
  Result<HostValue> EvalTuple(const Tuple& tuple, Frame& frame);
  Result<HostValue> EvalItem(const TupleGetItem& item, Frame& frame);
  Result<HostValue> EvalIf(const If& branch, Frame& frame);
  Result<HostValue> EvalShape(const ShapeExpr& shape, Frame& frame);
  Result<HostValue> EvalPrim(const PrimValue& value, Frame& frame);
  Result<HostValue> EvalClosure(const Function& function, const Var* self, Frame& frame);
  Result<HostValue> EvalGlobal(const GlobalVar& var);
  Result<std::vector<HostValue>> EvalAll(List<const Expr*> exprs, Frame& frame);

  // ---- Calls

  Result<HostValue> EvalCall(const Call& call, Frame& frame);
  // Gives what a PrimFunc writes to memory of its own: variables whose tensors must not change get copies.
  Status MakeWritable(const Call& call, const PrimFunc& func, std::vector<HostValue>& args, Frame& frame);
  Result<HostValue> CopyToStorage(const NDArray& tensor);
  Result<HostValue> CallGlobal(const GlobalVar& var, const BaseFunc& function, std::vector<HostValue> args);
  Result<HostValue> CallPrimFunc(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args);
  Result<HostValue> CallPacked(std::string_view name, std::span<const HostValue> args);
  Result<HostValue> CallKernel(const OpInfo& op, const Attr* attrs, std::span<const HostValue> args);
  Result<HostValue> CallOperator(const Call& call, const OpInfo& op, Frame& frame);
  // Those whose operands are not simply values.
  Result<HostValue> CallDestinationPassing(const Call& call, const OpInfo& op, std::vector<HostValue> args,
                                           Frame& frame);
  Result<std::vector<HostValue>> MakeOutputs(const Call& call, const OpInfo& op, const TupleValue& inputs, Frame& frame,
                                             std::vector<bool>& in_place);
  Result<HostValue> InvokeOperand(std::span<const HostValue> args);
  Result<HostValue> InvokeWithTuple(std::span<const HostValue> args);
  Result<HostValue> AllocTensor(std::span<const HostValue> args);
  Status CheckResult(const Call& call, const HostValue& value, Frame& frame);
  // Calls f, and tells the observer.
  Result<HostValue> Timed(CalleeKind kind, std::string_view callee, FunctionRef<Result<HostValue>()> f);

  const Module& module_;
  DiagnosticEngine& diagnostics_;
  const RunOptions& options_;
  const PackedRegistry& packed_;
  std::unique_ptr<PrimFuncExecutor> own_executor_;
  PrimFuncExecutor& executor_;
  PackedCaller packed_caller_;
  RandomSource random_;
  std::unordered_map<const Function*, std::unique_ptr<FramePlan>> plans_;  // never iterated
  std::unordered_map<const PrimFunc*, std::vector<bool>> written_params_;  // never iterated
  std::vector<CallSite> calls_;
  const Expr* site_ = nullptr;  // the call that is being made
  const Function* running_ = nullptr;
};

}  // namespace iropt::eval
