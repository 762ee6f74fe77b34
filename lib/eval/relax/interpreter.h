// The interpreter of Relax functions. Functions and expressions are in interpreter.cpp, operators in
// call_operators.cpp.
#pragma once

#include <unordered_set>

#include "frame_plan.h"
#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/relax/value_type.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"

namespace iropt::eval {

class RelaxInterpreter final : public PackedContext {
 public:
  RelaxInterpreter(const Module& module, DiagnosticEngine& diagnostics, const RunOptions& options);

  // `callee` has the captured variables; null for a function of the module.
  Result<HostValue> CallFunction(const Function& function, const FunctionValue* callee, std::vector<HostValue> args);

  // ---- PackedContext
  Result<HostValue> Invoke(const HostValue& callee, std::span<const HostValue> args) override;
  void Print(std::string_view line) override;
  Result<std::shared_ptr<Storage>> Allocate(uint64_t bytes) override;
  size_t max_bytes() const override { return options_.limits.max_bytes; }

  // Reports an error at an expression, unless it was reported already.
  Failure Report(const Expr& at, Error error);

 private:
  // The activation record of a call.
  struct Frame {
    const Function& function;
    const FramePlan& plan;
    std::vector<HostValue> slots;
    SymbolValues symbols = {};

    HostValue& At(const Var* var) { return slots[plan.SlotOf(var)]; }
  };
  // The call site of an active function.
  struct CallSite {
    const Expr* at;  // null for the outermost function
    const Function* caller;
  };

  // ---- Functions

  const FramePlan& PlanOf(const Function& function);
  std::string_view NameOf(const Function& function) const;
  Status BindParams(Frame& frame, std::vector<HostValue> args);
  // Checks that the value has the type, and binds the symbolic variables of the type.
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
  // Makes the arguments that a PrimFunc writes to writable: read-only tensors are copied, and their variables refer to
  // the copies.
  Status MakeWritable(const Call& call, const PrimFunc& func, std::vector<HostValue>& args, Frame& frame);
  // Copies a read-only tensor that is about to be overwritten. The variables of the frame that hold it, in tuples too,
  // hold the copy from then on.
  Result<HostValue> CopyToStorage(const NDArray& tensor, Frame& frame);
  Result<HostValue> CallGlobal(const GlobalVar& var, const BaseFunc& function, std::vector<HostValue> args);
  Result<HostValue> CallPrimFunc(const GlobalVar& var, const PrimFunc& func, std::span<const PrimFuncArg> args);
  Result<HostValue> CallPacked(std::string_view name, std::span<const HostValue> args);
  Result<HostValue> CallKernel(const Call& call, const OpInfo& op, const Attr* attrs, std::span<const HostValue> args);
  Result<HostValue> CallOperator(const Call& call, const OpInfo& op, Frame& frame);
  Result<HostValue> CallOnValues(const Call& call, const OpInfo& op, const Attr* attrs, std::vector<HostValue> args,
                                 Frame& frame);
  // call_tir and its variants.
  Result<HostValue> CallDestinationPassing(const Call& call, const OpInfo& op, std::vector<HostValue> args,
                                           Frame& frame);
  Result<std::vector<HostValue>> MakeOutputs(const Call& call, const OpInfo& op, const TupleValue& inputs, Frame& frame,
                                             std::vector<bool>& in_place);
  Result<HostValue> InvokeOperand(std::span<const HostValue> args);
  Result<HostValue> InvokeWithTuple(std::span<const HostValue> args);
  Result<HostValue> AllocTensor(std::span<const HostValue> args);
  // R.memory.view and R.memory.ensure_zero_offset of a tensor in storage.
  Result<HostValue> ViewStorage(const OpInfo& op, std::vector<HostValue> args);
  Status CheckReturned(const Function& function, const HostValue& value, Frame& frame);
  Status CheckResult(const Call& call, const HostValue& value, Frame& frame);
  // Calls f and notifies the observer.
  Result<HostValue> Timed(CalleeKind kind, std::string_view callee, FunctionRef<Result<HostValue>()> f);

  const Module& module_;
  DiagnosticEngine& diagnostics_;
  const RunOptions& options_;
  const PackedRegistry& packed_;
  std::unique_ptr<PrimFuncExecutor> own_executor_;
  PrimFuncExecutor& executor_;
  PackedCaller packed_caller_;
  RandomSource random_;
  LookupMap<const Function*, std::unique_ptr<FramePlan>> plans_;
  std::unordered_set<const Call*> inference_calls_;  // of the functions with plans
  LookupMap<const PrimFunc*, std::vector<bool>> written_params_;
  std::vector<CallSite> calls_;
  const Expr* site_ = nullptr;  // the current call
  const Function* running_ = nullptr;
};

}  // namespace iropt::eval
