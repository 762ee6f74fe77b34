// LowerRuntimeBuiltin: replaces operators on memory, shapes, devices and closures by the builtins of TVM's virtual
// machine.
//
//   s = R.memory.alloc_storage(R.shape([32]), 0, "global", "float32")    s = R.vm.alloc_storage(R.shape([32]), 0,
//                                                                                               R.dtype("uint8"), ...)
//   a = R.memory.alloc_tensor(s, 0, R.shape([2, 4]), "float32")     -->  a = R.vm.alloc_tensor(s, 0, ...)
//   b = R.reshape(a, R.shape([8]))                                       b = R.call_packed("vm.builtin.reshape", a,
//   ...) R.memory.kill_tensor(a)                                              R.vm.kill_object(a)
//
// Sizes of storage are in bytes from then on. Calls of closures return an R.Object. Packed functions count as impure:
// run ToNonDataflow and RemovePurityChecking before. Operators on tensors stay; an R.builtin.alloc_tensor that is left
// is an error.
//
// O(nodes). Source: TVM 0.18's pass of this name, which it also called VMBuiltinLower.
#include <fmt/format.h>

#include <optional>
#include <vector>

#include "builtin_calls.h"
#include "impure_calls.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/dlpack.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/mutator.h"
#include "iropt/op/ops/call.h"
#include "iropt/op/ops/device.h"
#include "iropt/op/ops/memory.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/shape.h"
#include "iropt/op/ops/vm.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

namespace {

// Returns whether an operand is the empty tuple, which stands for an argument that is left out.
bool IsLeftOut(const Expr* operand) {
  const auto* type = As<TupleType>(operand->type);
  return type && type->fields.empty();
}

class BuiltinLowerer : public ExprMutator {
 public:
  BuiltinLowerer(Workspace& workspace, TypeInferrer& inferrer, DiagnosticEngine& diagnostics)
      : ExprMutator(workspace, &inferrer), diagnostics_(diagnostics), calls_(workspace) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(ExprMutator::VisitCall(old));
    const auto* op = As<Op>(call->op);
    if (!op) return call;
    if (!call->type) call = To<Call>(builder().Normalize(call));
    return Lower(*call, op->id);
  }

 private:
  const Expr* Lower(const Call& call, OpId op) {
    const auto& args = call.args;
    switch (op) {
      case op::kMemoryAllocStorage:
        return Operator(call, op::kVmAllocStorage, {args[0], args[1], calls_.DType(DataType::UInt(8)), args[2]});
      case op::kMemoryAllocTensor:
        if (args.size() < 5) return Operator(call, op::kVmAllocTensor, {args[0], args[1], args[2], args[3]});
        return Operator(call, op::kVmAllocTensor, {args[0], args[1], args[2], args[3], args[4]});
      case op::kMemoryKillStorage:
      case op::kMemoryKillTensor: return Operator(call, op::kVmKillObject, {args[0]});
      case op::kMemoryEnsureZeroOffset: return Packed(call, "vm.builtin.ensure_zero_offset", args, call.type);
      case op::kMemoryView: return LowerView(call);
      case op::kReshape: return Packed(call, "vm.builtin.reshape", args, call.type);
      case op::kShapeOf: return Packed(call, "vm.builtin.shape_of", args, call.type);
      case op::kTensorToShape: return Packed(call, "vm.builtin.tensor_to_shape", args, call.type);
      case op::kToVdevice: return LowerTransfer(call);
      case op::kVmCallTirDyn: return Packed(call, "vm.builtin.call_tir_dyn", Flat(call), BuiltinCalls::Void());
      case op::kMakeClosure: return Packed(call, "vm.builtin.make_closure", Flat(call), ObjectType::Get());
      case op::kInvokeClosure:
        return Like(call, calls_.WithContext("vm.builtin.invoke_closure", Flat(call), call.type));
      case op::kBuiltinAllocTensor:
        return Fail(call, "R.builtin.alloc_tensor has no builtin: run LowerAllocTensor before");
      default: return &call;
    }
  }

  static const Expr* Like(const Call& old, Call* made) {
    made->set_span(old.span());
    return made;
  }
  const Expr* Operator(const Call& old, OpId op, std::initializer_list<const Expr*> args) {
    return Like(old, calls_.Operator(op, args));
  }
  const Expr* Packed(const Call& old, std::string_view name, std::span<const Expr* const> args, const Type* type) {
    return Like(old, calls_.Packed(name, args, type));
  }
  const Expr* Packed(const Call& old, std::string_view name, List<const Expr*> args, const Type* type) {
    return Packed(old, name, args.span(), type);
  }

  // The operands of a call of `op(function, (args...))` in one list.
  static std::vector<const Expr*> Flat(const Call& call) {
    const auto& fields = To<Tuple>(call.args[1])->fields;
    std::vector<const Expr*> flat{call.args[0]};
    flat.insert(flat.end(), fields.begin(), fields.end());
    return flat;
  }

  // Lowers R.memory.view. Arguments that are left out are those of the operand: its shape and dtype, from its first
  // byte.
  const Expr* LowerView(const Call& call) {
    const Expr* data = call.args[0];
    const Expr* shape = call.args[1];
    const Expr* dtype = call.args[2];
    const Expr* offset = call.args[3];
    const bool same_dtype = IsLeftOut(dtype) || IsNullValue(dtype);
    if (IsLeftOut(shape) && same_dtype && IsLeftOut(offset)) return data;
    const auto& type = *To<TensorType>(data->type);
    if (IsLeftOut(shape)) {
      if (!type.known) return Fail(call, "the shape of the view follows from a tensor of unknown shape");
      shape = workspace().New<ShapeExpr>(type.dims, ShapeType::Get(type.dims));
    }
    if (same_dtype) {
      if (type.dtype.is_void()) return Fail(call, "the dtype of the view follows from a tensor of unknown dtype");
      dtype = calls_.DType(type.dtype);
    }
    if (IsLeftOut(offset)) offset = calls_.Int(0);
    if (workspace().version() >= TextVersion::kV0_22) {
      return Like(call, calls_.PurePacked("runtime.TVMTensorCreateView", {data, shape, dtype, offset}, call.type));
    }
    return Like(call, calls_.Packed("runtime.TVMArrayCreateView", {data, shape, dtype, offset}, call.type));
  }

  // Returns whether an operand is the result of R.null_value, which VMShapeLower and others use for what is not known.
  bool IsNullValue(const Expr* operand) {
    while (const auto* var = As<Var>(operand)) {
      operand = builder().LookupBinding(var);
      if (!operand) return false;
    }
    return CallOf(operand, op::kNullValue) != nullptr;
  }

  const Expr* LowerTransfer(const Call& call) {
    const VDeviceAttr& device = *ToVDeviceAttrs(call).dst_vdevice();
    const std::optional<int64_t> kind = device.target ? DLPackDeviceType(*device.target) : std::nullopt;
    if (!kind) return Fail(call, "the kind of the device is not known");
    const Expr* const args[] = {call.args[0], calls_.Int(*kind), calls_.Int(device.vdevice_id)};
    return Like(call, calls_.Packed("vm.builtin.to_device", args, call.type, call.attrs));
  }

  const Expr* Fail(const Call& call, std::string_view why) {
    diagnostics_.Error(Location(call), "pass-failed", fmt::format("cannot lower {}: {}", CalleeName(call), why));
    return &call;
  }

  DiagnosticEngine& diagnostics_;
  BuiltinCalls calls_;
};

}  // namespace

Pass CreateLowerRuntimeBuiltin(const PassOptions& options) {
  const auto run = [name = options.info().name](const Function* function,
                                                FunctionPassContext& context) -> Result<const Function*> {
    OpTypeInferrer inferrer(&context.module(), context.workspace().arena(), &context.diagnostics());
    BuiltinLowerer lowerer(context.workspace(), inferrer, context.diagnostics());
    const auto* result = To<Function>(lowerer.VisitExpr(function));
    if (result != function)
      IROPT_RETURN_IF_ERROR(CheckImpureCallsAllowed(*result, context.module(), name, context.diagnostics()));
    return result;
  };
  return CreateFunctionPass(options.info(), run);
}

}  // namespace iropt
