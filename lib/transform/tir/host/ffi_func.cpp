#include "transform/tir/host/ffi_func.h"

#include <fmt/format.h>

#include <vector>

#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "transform/tir/host/ffi_binder.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/host/return_rewriter.h"
#include "transform/tir/util/undefined_names.h"

namespace iropt {

namespace {

// Stores what the function returns, and its type index, where the caller wants them.
class FfiReturnRewriter : public ReturnRewriter {
 public:
  FfiReturnRewriter(const HostBuilder& build, const tir::Var* result, DiagnosticEngine& diagnostics)
      : ReturnRewriter(build.workspace(), diagnostics), build_(build), result_(result) {}

 protected:
  const tir::Stmt* Return(const PrimExpr* value, const tir::Evaluate& stmt) override {
    const std::optional<Stored> stored = StoredAs(value->dtype);
    if (!stored) return Fail(stmt, fmt::format("a packed function cannot return {}", value->dtype.ToString()));
    return build_.Seq({build_.SetField(result_, 0, StructField::kFfiTypeIndex, build_.Int32(stored->type_index)),
                       build_.SetField(result_, 0, StructField::kFfiZeroPadding, build_.Int32(0)),
                       build_.SetField(result_, 0, StructField::kFfiUnionValue, Converted(value, stored->dtype)),
                       build_.Return(0)});
  }

 private:
  // Constants are converted like other values.
  const PrimExpr* Converted(const PrimExpr* value, DataType dtype) const {
    return dtype.is_handle() ? value : build_.make().Keep(tir::Cast(dtype, value));
  }

  struct Stored {
    int64_t type_index;
    DataType dtype;
  };
  static std::optional<Stored> StoredAs(DataType dtype) {
    if (dtype.is_handle()) return Stored{ffi_type::kOpaquePointer, dtype};
    if (dtype.is_bool()) return Stored{ffi_type::kBool, DataType::Int(64)};
    if (dtype.is_integer()) return Stored{ffi_type::kInt, DataType::Int(64)};
    if (dtype.code == TypeCode::kFloat) return Stored{ffi_type::kFloat, DataType::Float(64)};
    return std::nullopt;
  }

  const HostBuilder& build_;
  const tir::Var* result_;
};

// The function with pointers of buffers that its own statements bind.
class PointerRenamer : public tir::StmtExprMutator {
 public:
  explicit PointerRenamer(Workspace& workspace) : StmtExprMutator(workspace, tir::kRewriteBuffers) {}

  const PrimFunc* Rename(const PrimFunc& func) {
    std::vector<const tir::Buffer*> buffers;
    for (const tir::Buffer* buffer : func.param_buffers) {
      buffers.push_back(buffer ? Rename(*buffer) : nullptr);
    }
    auto* copy = workspace().New<PrimFunc>(func);
    copy->param_buffers = workspace().Copy(buffers);
    copy->body = VisitStmt(func.body);
    return copy;
  }

 private:
  const tir::Buffer* Rename(const tir::Buffer& buffer) {
    tir::Var* pointer =
        workspace().NewPrimVar(fmt::format("{}_data", buffer.name), DataType::Handle(), buffer.data->pointer);
    pointer->flags |= tir::Var::kBufferPointer;
    Remap(buffer.data, pointer);
    tir::Buffer copy = buffer;
    copy.data = pointer;
    copy.id = workspace().NextVarId();
    const auto* renamed = workspace().New<tir::Buffer>(copy);
    Remap(&buffer, renamed);
    return renamed;
  }
};

const tir::Stmt* SetDevice(const HostBuilder& build, StmtNest& nest, int64_t device_type, const tir::Var* device_id,
                           const tir::Stmt* body) {
  nest.Add<tir::AttrStmt>(StrAttr::Get("default"), attr::kDeviceId, device_id);
  nest.Add<tir::AttrStmt>(StrAttr::Get("default"), attr::kDeviceType, build.Int32(device_type));
  if (device_type == kCpuDevice) return body;
  const PrimExpr* call = build.Call(DataType::Int(32), op::kTirTvmCallPacked,
                                    {build.String("__tvm_set_device"), build.Int32(device_type), device_id});
  return build.Seq({build.Evaluate(call), body});
}

}  // namespace

const PrimFunc* MakeFfiFunc(const PrimFunc& func, std::string_view symbol, const DictAttr& target, Workspace& workspace,
                            DiagnosticEngine& diagnostics) {
  const PrimFunc& own = *PointerRenamer(workspace).Rename(func);
  const HostBuilder build(workspace);
  const tir::Var* args = workspace.NewPrimVar("args", DataType::Handle());
  const tir::Var* num_args = workspace.NewPrimVar("num_args", DataType::Int(32));
  const tir::Var* result = workspace.NewPrimVar("result", DataType::Handle());
  const tir::Var* device_id = workspace.NewPrimVar("dev_id", DataType::Int(32));
  const int64_t device_type = DeviceTypeOf(target);
  FfiBinder binder(own, symbol, args, num_args, build, diagnostics);
  binder.BindParams(device_type, device_id);

  FfiReturnRewriter returns(build, result, diagnostics);
  StmtNest device(build);
  auto* made = workspace.New<PrimFunc>(*WrapBody(&own, workspace, [&](const tir::Stmt* old) {
    const tir::Stmt* body = returns.VisitStmt(old);
    body = workspace.New<tir::AttrStmt>(build.Int32(0), attr::kComputeScope,
                                        build.String(fmt::format("{}_compute_", symbol)), body);
    if (binder.IsBound(device_id)) body = SetDevice(build, device, device_type, device_id, body);
    body = build.Seq({body, build.Return(0)});
    for (const StmtNest* nest :
         {&binder.buffers(), &binder.checks(), static_cast<const StmtNest*>(&device), &binder.bindings()}) {
      body = nest->Around(body);
    }
    return body;
  }));
  if (returns.failed() || binder.failed()) return nullptr;
  const std::vector<const tir::Var*> params = {workspace.NewPrimVar("self_handle", DataType::Handle()), args, num_args,
                                               result};
  made->params = workspace.Copy(params);
  made->param_buffers = workspace.Copy(std::vector<const tir::Buffer*>(params.size(), nullptr));
  made->ret_type = PrimType::Get(DataType::Int(32));
  made->attrs = func.attrs->With(attr::kCallingConv, IntAttr::Get(static_cast<int64_t>(CallingConv::kCPackedFunc)))
                    ->With(attr::kTarget, TargetAttr::Get(HostOf(target)))
                    ->With(attr::kGlobalSymbol, StrAttr::Get(fmt::format("__tvm_ffi_{}", symbol)));
  made->type = PrimFuncType(made);
  // The alignment of a tensor is stated before its declaration.
  std::vector<const tir::Var*> known = params;
  for (const tir::Buffer* buffer : own.param_buffers) {
    if (buffer) known.push_back(buffer->data);
  }
  for (const tir::Var* var : FindUndefinedNames(made->body, known).vars) {
    diagnostics.Error(Location(*var), "pass-failed",
                      fmt::format("'{}' is used in '{}', but is not one of its arguments", var->name, symbol));
    return nullptr;
  }
  return made;
}

}  // namespace iropt
