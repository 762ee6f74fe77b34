// CallTIRRewrite: allocates the outputs of call_tir, call_tir_inplace and call_dps_packed explicitly, and calls the
// functions directly.
//
//   lv = R.call_tir(cls.exp, (x,),              alloc = R.builtin.alloc_tensor(R.shape([m, n]), R.dtype("float32"),
//   ...)
//       out_sinfo=R.Tensor((m, n), ...))  -->   cls.exp(x, alloc)
//                                               lv = alloc
//
//   - The arguments of the call are the operands, then the outputs. Several outputs make a tuple.
//   - An output of call_tir_inplace that shares memory with an operand is that operand; only the others are new.
//   - A call with integer arguments (tir_vars) becomes R.vm.call_tir_dyn(cls.exp, (x, alloc, R.shape([n]))).
//   - A single output is allocated on the device of its type, which must be one of the module. Those of a tuple are on
//     the first device, as in TVM 0.18.
//   - In modules of TVM 0.23 and newer, the type of an output is a type argument of the allocation and keeps its
//   device,
//     also that of a part of a tuple.
//
// The calls are impure: run ToNonDataflow and RemovePurityChecking first. call_tir_with_grad stays. Unlike in TVM 0.18,
// a tuple of one output stays a tuple. O(nodes).
//
// Source: the pass of this name of TVM 0.18 and 0.27.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "impure_calls.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/call_packed.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/vm.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "memory_calls.h"
#include "transform/relax/util/rewrite_functions.h"

namespace iropt {

namespace {

bool IsDestinationPassing(const Call& call) {
  const auto* op = As<Op>(call.op);
  return op && (op->id == op::kCallTir || op->id == op::kCallTirInplace || op->id == op::kCallDpsPacked);
}

// The operand whose memory output `i` takes; nothing for a new tensor.
std::optional<uint32_t> InPlaceOperand(const Call& call, uint32_t i) {
  if (!IsOp(call.op, op::kCallTirInplace)) return std::nullopt;
  const auto indices = InplaceAttrs(call).inplace_indices();
  if (i >= indices.size() || indices[i] < 0) return std::nullopt;
  return static_cast<uint32_t>(indices[i]);
}

class CallRewriter : public ExprMutator {
 public:
  CallRewriter(const Module& module, Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), module_(module), diagnostics_(diagnostics) {}

  Result<const Function*> Run(const Function* function) {
    const Expr* result = VisitExpr(function);
    if (has_errors()) return Failure{ErrorCode::PassFailed};
    return To<Function>(result);
  }

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    if (!IsDestinationPassing(*call) || call->args.size() < 2 || has_errors()) return call;
    const auto* tuple = As<TupleType>(old->type);
    std::vector<const Expr*> outputs;
    for (uint32_t i = 0; i < (tuple ? tuple->fields.size() : 1); ++i) {
      const Type* type = tuple ? tuple->fields[i] : old->type;
      const Expr* output = MakeOutput(*call, i, As<TensorType>(type), tuple != nullptr);
      if (!output) return call;
      outputs.push_back(output);
    }
    EmitCall(*call, outputs);
    if (!tuple) return outputs[0];
    return workspace().New<Tuple>(workspace().Copy(outputs), nullptr);
  }

 private:
  bool has_errors() const { return has_errors_ || failed(); }

  // The tensor that the function writes; null after an error.
  const Expr* MakeOutput(const Call& call, uint32_t i, const TensorType* type, bool in_tuple) {
    if (const auto operand = InPlaceOperand(call, i)) {
      const auto* operands = As<Tuple>(call.args[1]);
      if (operands && *operand < operands->fields.size()) return operands->fields[*operand];
      return Fail(call, fmt::format("{} has no operand {}", CalleeName(call), *operand));
    }
    if (!type || !type->known) return Fail(call, fmt::format("the shape of output {} is not known", i));
    if (type->dtype.is_void()) return Fail(call, fmt::format("the dtype of output {} is not known", i));
    const bool keeps_device = module_.text_version().value_or(TextVersion::kV0_18) >= TextVersion::kV0_23;
    std::optional<int64_t> device = 0;
    if (type->vdevice && (keeps_device || !in_tuple)) device = DeviceIndex(type->vdevice);
    if (!device) return Fail(call, fmt::format("the device of output {} is not a device of the module", i));
    if (keeps_device) return EmitTypedAllocation(*type, *device);
    return builder().Emit(MemoryCalls(builder()).BuiltinAllocTensor(*type, *device), "alloc");
  }

  // As TVM does from 0.23 on: the type is an argument, and the device of the tensor stays a part of it.
  const Expr* EmitTypedAllocation(const TensorType& type, int64_t device) {
    const std::string_view scope = type.vdevice ? type.vdevice->memory_scope : std::string_view("global");
    if (!type.vdevice) device = FirstDeviceWithScope(scope);
    const Call* untyped = MemoryCalls(builder()).BuiltinAllocTensor(type, device, scope);
    const Type* const types[] = {&type};
    return builder().Emit(
        workspace().New<Call>(untyped->op, untyped->args, untyped->attrs, TupleType::Get(types), &type), "alloc");
  }

  void EmitCall(const Call& call, const std::vector<const Expr*>& outputs) {
    std::vector<const Expr*> args;
    if (const auto* operands = As<Tuple>(call.args[1])) {
      args.assign(operands->fields.begin(), operands->fields.end());
    } else {
      args.push_back(call.args[1]);
    }
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      if (!InPlaceOperand(call, i)) args.push_back(outputs[i]);
    }
    if (call.args.size() == 2) {
      builder().Emit(NewLike<Call>(workspace(), call, call.args[0], workspace().Copy(args), nullptr, nullptr, nullptr),
                     "_");
      return;
    }
    args.push_back(call.args[2]);
    const Expr* tuple = workspace().New<Tuple>(workspace().Copy(args), nullptr);
    const List<const Expr*> operands = workspace().arena().Copy<const Expr*>({call.args[0], tuple});
    builder().Emit(NewLike<Call>(workspace(), call, GetOp(op::kVmCallTirDyn), operands, nullptr, nullptr, nullptr),
                   "_");
  }

  // The number of the device in the module.
  std::optional<int64_t> DeviceIndex(const VDeviceAttr* device) const {
    const auto found = module_.global_infos().find("vdevice");
    if (found == module_.global_infos().end()) return std::nullopt;
    const auto at = std::ranges::find(found->second, static_cast<const Attr*>(device));
    if (at == found->second.end()) return std::nullopt;
    return at - found->second.begin();
  }

  // The number of the first device of the module with this memory; 0 if there is none.
  int64_t FirstDeviceWithScope(std::string_view scope) const {
    const auto found = module_.global_infos().find("vdevice");
    if (found == module_.global_infos().end()) return 0;
    const auto at = std::ranges::find_if(found->second, [&](const Attr* info) {
      const auto* device = As<VDeviceAttr>(info);
      return device && device->memory_scope == scope;
    });
    return at == found->second.end() ? 0 : at - found->second.begin();
  }

  const Expr* Fail(const Call& call, std::string message) {
    has_errors_ = true;
    diagnostics_.Error(Location(call), "pass-failed", std::move(message));
    return nullptr;
  }

  const Module& module_;
  DiagnosticEngine& diagnostics_;
  bool has_errors_ = false;
};

}  // namespace

Pass CreateCallTIRRewrite(const PassOptions& options) {
  const auto run = [name = options.info().name](Module module, ModulePassContext& context) -> Result<Module> {
    const auto rewrite = [&](const ModuleEntry& entry, Workspace& workspace,
                             DiagnosticEngine& diagnostics) -> Result<const Function*> {
      OpTypeInferrer inferrer(&module, workspace.arena(), &diagnostics);
      IROPT_ASSIGN_OR_RETURN(const Function* function,
                             CallRewriter(module, workspace, inferrer, diagnostics).Run(To<Function>(entry.func)));
      if (function != entry.func) IROPT_RETURN_IF_ERROR(CheckImpureCallsAllowed(*function, module, name, diagnostics));
      return function;
    };
    IROPT_RETURN_IF_ERROR(TryRewriteRelaxFunctions(module, context, rewrite));
    return module;
  };
  return CreateModulePass(options.info(), run);
}

}  // namespace iropt
