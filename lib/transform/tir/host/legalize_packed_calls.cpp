// tir.LegalizePackedCalls: passes arrays to functions of the module that are called as packed functions.
//
//   T.call_cpacked("add", B, ctx)    -->    T.call_cpacked("add", T.tvm_stack_make_array(B, T.tvm_stack_make_shape(4),
//                                               T.reinterpret("handle", T.uint64(0)), T.uint32(1), T.Cast("float32",
//                                               0), 0), ctx)
//
// The shape, dtype and offset are those of the callee's buffer, and must be constant; if the parameter is not a buffer,
// the array has no dimensions. Parameters of the caller are arrays already, and stay. Only calls that are statements
// change. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/host/host_builder.h"

namespace iropt {

namespace {

class PackedCallLegalizer : public tir::StmtExprMutator {
 public:
  PackedCallLegalizer(const PrimFunc& func, const Module& module, Workspace& workspace, DiagnosticEngine& diagnostics)
      : StmtExprMutator(workspace),
        build_(workspace),
        module_(module),
        diagnostics_(diagnostics),
        params_(func.params.begin(), func.params.end()) {}

  bool failed() const { return failed_; }

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitEvaluate(const tir::Evaluate* stmt) override {
    const auto* call = As<tir::Call>(stmt->value);
    if (!call || !IsOp(call->op, op::kTirTvmCallCpacked) || call->args.size() < 2) return stmt;
    const auto* name = As<tir::StringImm>(call->args[0]);
    const ModuleEntry* callee = name ? module_.Find(name->value) : nullptr;
    if (!callee) return Fail(*stmt, "the callee is not a function of the module");
    const uint32_t last = call->args.size() - 1;  // the context of the device
    std::vector<const PrimExpr*> args = {name};
    for (uint32_t i = 1; i < last; ++i) {
      const PrimExpr* arg = call->args[i];
      const tir::Buffer* buffer = BufferOf(*callee, i - 1);
      if (!IsArray(arg) && buffer && !IsConstant(*buffer)) {
        return Fail(*stmt, fmt::format("the shape of the parameter '{}' of the callee is not constant", buffer->name));
      }
      args.push_back(IsArray(arg) ? arg : MakeArray(arg, buffer));
    }
    if (std::equal(args.begin(), args.end(), call->args.begin())) return stmt;
    args.push_back(call->args[last]);
    return build_.Evaluate(build_.Call(call->dtype, call->op, args));
  }

 private:
  // An array that was made before, and the arguments of the caller.
  bool IsArray(const PrimExpr* arg) const {
    const auto* var = As<tir::Var>(arg);
    const auto* call = As<tir::Call>(arg);
    return (var && params_.contains(var)) || (call && IsOp(call->op, op::kTirTvmStackMakeArray));
  }
  static bool IsConstant(const tir::Buffer& buffer) {
    return std::ranges::all_of(buffer.shape, &arith::AsInt) && arith::AsInt(buffer.elem_offset);
  }
  // Null if the parameter is not a buffer.
  static const tir::Buffer* BufferOf(const ModuleEntry& callee, uint32_t param) {
    const auto* func = As<PrimFunc>(callee.func);
    return func && param < func->param_buffers.size() ? func->param_buffers[param] : nullptr;
  }
  const PrimExpr* MakeArray(const PrimExpr* data, const tir::Buffer* buffer) {
    std::vector<const PrimExpr*> shape;
    const PrimExpr* offset = build_.make().Int(0, DataType::UInt(64));
    DataType dtype = DataType::Handle();
    if (buffer) {
      const auto copy = [&](const PrimExpr* e) { return build_.make().Int(*arith::AsInt(e), e->dtype); };
      for (const PrimExpr* dim : buffer->shape) shape.push_back(copy(dim));
      offset = copy(buffer->elem_offset);
      dtype = buffer->dtype;
    }
    return build_.Call(DataType::Handle(), op::kTirTvmStackMakeArray,
                       {data, build_.Call(DataType::Handle(), GetOp(op::kTirTvmStackMakeShape), shape),
                        build_.NullHandle(), build_.make().Int(static_cast<int64_t>(shape.size()), DataType::UInt(32)),
                        workspace().New<tir::Cast>(dtype, build_.Int32(0)), offset});
  }

  const tir::Stmt* Fail(const tir::Evaluate& stmt, std::string message) {
    diagnostics_.Error(Location(stmt), "pass-failed", std::move(message));
    failed_ = true;
    return &stmt;
  }

  const HostBuilder build_;
  const Module& module_;
  DiagnosticEngine& diagnostics_;
  const LookupSet<const tir::Var*> params_;
  bool failed_ = false;
};

}  // namespace

Pass CreateLegalizePackedCalls(const PassOptions& options) {
  return CreatePrimFuncPass(
      options.info(), [](const PrimFunc* func, FunctionPassContext& context) -> Result<const PrimFunc*> {
        PackedCallLegalizer legalizer(*func, context.module(), context.workspace(), context.diagnostics());
        const tir::Stmt* body = legalizer.VisitStmt(func->body);
        if (legalizer.failed()) return Failure{ErrorCode::PassFailed};
        return WithBody(func, body, context.workspace());
      });
}

}  // namespace iropt
