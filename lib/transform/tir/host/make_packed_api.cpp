// tir.MakePackedAPI: gives functions that other programs call the signature of packed functions, and lets them unpack
// and check their arguments.
//
//   @T.prim_func                                   @T.prim_func
//   def main(A: T.Buffer((n,))):                   def main(args, arg_type_ids, num_args, out_ret_value, ...) ->
//   T.int32:
//       T.func_attr({"target": ...})       -->         T.func_attr({"calling_conv": 1, "target": <its host>})
//       B[0] = A[n - 1]                                assert num_args == 1, "main: num_args should be 1"
//                                                      ...
//                                                      A = T.tvm_struct_get(A_handle, 0, 1, "handle")
//                                                      B[0] = A[n - 1]
//                                                      return 0
//
// T.ret(value) stores the value and its type code for the caller. Calls of such functions within the module become
// T.tvm_call_cpacked. A parameter device_api_context stays a parameter. Private functions, functions with a calling
// convention, those that Relax functions call, and those whose target has no host stay. A function to change needs a
// target. O(nodes).
//
// For modules of TVM 0.24 and newer, the signature is that of its FFI, (self_handle, args, num_args, result), and the
// messages name the function, see ffi_func.h.
//
// Source: the passes of this name in TVM 0.18 and 0.26.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/tir/host/arg_binder.h"
#include "transform/tir/host/change_api.h"
#include "transform/tir/host/ffi_func.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/host/graph_calls.h"
#include "transform/tir/host/return_rewriter.h"
#include "transform/tir/util/undefined_names.h"

namespace iropt {

namespace {

constexpr std::string_view kDeviceContext = "device_api_context";

// The symbols of the functions that get the packed signature.
using PackedSymbols = LookupMap<const GlobalVar*, std::string_view>;

// Null if the function stays.
const StrAttr* PackedSymbol(const PrimFunc& func) {
  return CallingConvOf(func) == CallingConv::kDefault ? GlobalSymbolOf(func) : nullptr;
}

// Calls the functions of the module by their symbols.
class PackedCallRewriter : public tir::StmtExprMutator {
 public:
  PackedCallRewriter(const PackedSymbols& symbols, Workspace& workspace)
      : StmtExprMutator(workspace), build_(workspace), symbols_(symbols) {}

 protected:
  const PrimExpr* VisitCall(const tir::Call* old) override {
    const auto* call = static_cast<const tir::Call*>(StmtExprMutator::VisitCall(old));
    const auto* callee = As<GlobalVar>(call->op);
    const auto* symbol = callee ? symbols_.Find(callee) : nullptr;
    if (!symbol) return call;
    std::vector<const PrimExpr*> args = {build_.String(*symbol)};
    args.insert(args.end(), call->args.begin(), call->args.end());
    args.push_back(build_.NullHandle());  // the resource handle
    // Without a result, the value is the error code.
    const DataType dtype = call->dtype.is_void() ? DataType::Int(32) : call->dtype;
    return build_.Call(dtype, GetOp(op::kTirTvmCallCpacked), args);
  }

 private:
  const HostBuilder build_;
  const PackedSymbols& symbols_;
};

// Stores what the function returns, and its type code, where the caller wants them.
class PackedReturnRewriter : public ReturnRewriter {
 public:
  PackedReturnRewriter(const HostBuilder& build, const tir::Var* value, const tir::Var* type_code,
                       DiagnosticEngine& diagnostics)
      : ReturnRewriter(build.workspace(), diagnostics),
        build_(build),
        value_(value),
        type_code_(View(type_code, DataType::Int(32))) {}

 protected:
  const tir::Stmt* Return(const PrimExpr* value, const tir::Evaluate& stmt) override {
    const DataType dtype = value->dtype;
    TypeCodeOfValue code = TypeCodeOfValue::kInt;
    if (dtype.is_bool()) code = TypeCodeOfValue::kBool;
    if (dtype.code == TypeCode::kFloat) code = TypeCodeOfValue::kFloat;
    if (!dtype.is_integer() && dtype.code != TypeCode::kFloat) {
      return Fail(stmt, fmt::format("a packed function cannot return {}", dtype.ToString()));
    }
    const DataType stored = code == TypeCodeOfValue::kFloat ? DataType::Float(64) : DataType::Int(64);
    const tir::Buffer*& buffer = views_[code];
    if (!buffer) buffer = View(value_, stored);
    return build_.Seq({build_.Store(buffer, 0, workspace().New<tir::Cast>(stored, value)),
                       build_.Store(type_code_, 0, build_.Code(code)), build_.Return(0)});
  }

 private:
  const tir::Buffer* View(const tir::Var* pointer, DataType dtype) const {
    tir::BufferSpec spec;
    spec.shape = {build_.Int32(1)};
    spec.strides = {build_.Int32(1)};
    spec.dtype = dtype;
    spec.data = pointer;
    return tir::MakeBuffer(build_.workspace(), spec, pointer->name);
  }

  const HostBuilder& build_;
  const tir::Var* value_;
  const tir::Buffer* type_code_;
  LookupMap<TypeCodeOfValue, const tir::Buffer*> views_;
};

class PackedFuncMaker {
 public:
  PackedFuncMaker(const PrimFunc& func, std::string_view symbol, const DictAttr& target, Workspace& workspace,
                  DiagnosticEngine& diagnostics)
      : func_(func),
        symbol_(symbol),
        target_(target),
        build_(workspace),
        diagnostics_(diagnostics),
        binder_(build_, diagnostics),
        args_(workspace.NewPrimVar("args", DataType::Handle())),
        type_codes_(build_.DeclBuffer("arg_type_ids", DataType::Int(32),
                                      build_.Int32(static_cast<int64_t>(func.params.size())))),
        num_args_(workspace.NewPrimVar("num_args", DataType::Int(32))),
        ret_value_(workspace.NewPrimVar("out_ret_value", DataType::Handle(), tir::PointerInfo::Get(DataType::Void()))),
        ret_code_(workspace.NewPrimVar("out_ret_tcode", DataType::Handle(), tir::PointerInfo::Get(DataType::Int(32)))),
        device_id_(workspace.NewPrimVar("dev_id", DataType::Int(32))) {
    const auto* context = std::ranges::find(func.params, kDeviceContext, &tir::Var::name);
    resource_ = context != func.params.end() ? *context : workspace.NewPrimVar("resource_handle", DataType::Handle());
  }

  // Null after an error.
  const PrimFunc* Make() {
    StmtNest start(build_);
    CheckNumArgs(start);
    CheckTypeCodes(start);
    StmtNest declarations(build_);
    BindParams(declarations);

    PackedReturnRewriter returns(build_, ret_value_, ret_code_, diagnostics_);
    StmtNest device(build_);
    const PrimFunc* func = WrapBody(&func_, build_.workspace(), [&](const tir::Stmt* old) {
      const tir::Stmt* body = returns.VisitStmt(old);
      body = build_.workspace().New<tir::AttrStmt>(build_.Int32(0), attr::kComputeScope,
                                                   build_.String(fmt::format("{}_compute_", symbol_)), body);
      if (binder_.IsBound(device_id_)) body = SetDevice(device, body);
      body = build_.Seq({body, build_.Return(0)});
      for (const StmtNest* nest : {&declarations, &binder_.checks(), &device, &binder_.bindings(), &start}) {
        body = nest->Around(body);
      }
      return body;
    });
    if (returns.failed() || binder_.failed()) return nullptr;
    func = NewFunc(func->body);
    return CheckDefined(*func, symbol_, diagnostics_) ? func : nullptr;
  }

 private:
  void CheckNumArgs(StmtNest& nest) {
    const auto num_args = std::ranges::count_if(func_.params, [](const auto* p) { return p->name != kDeviceContext; });
    nest.Assert(build_.make().Binary(NodeKind::kEQ, num_args_, build_.Int32(num_args)),
                fmt::format("{}: num_args should be {}", symbol_, num_args));
    if (num_args > 0) {
      const arith::PrimBuilder& make = build_.make();
      nest.Assert(make.Not(build_.IsNull(args_)), fmt::format("{}: TVMValue* arg pointer was NULL", symbol_));
      nest.Assert(make.Not(build_.IsNull(type_codes_->data)), fmt::format("{}: int* type_codes was NULL", symbol_));
    }
    nest.Add<tir::DeclBuffer>(type_codes_);
  }

  // All of them come before the first access to an argument.
  void CheckTypeCodes(StmtNest& nest) {
    for (uint32_t i = 0; i < func_.params.size(); ++i) {
      const tir::Var* param = func_.params[i];
      if (param->name == kDeviceContext) continue;
      const tir::Var* code = build_.workspace().NewPrimVar(fmt::format("{}.code", param->name), DataType::Int(32));
      nest.Add<tir::LetStmt>(code, build_.Load(type_codes_, i));
      using Code = TypeCodeOfValue;
      if (param->dtype.is_handle()) {
        CheckTypeCode(nest, code, {Code::kOpaqueHandle, Code::kNDArray, Code::kDLTensor, Code::kNullptr}, i, "pointer");
      } else if (param->dtype.is_bool()) {
        CheckTypeCode(nest, code, {Code::kBool, Code::kInt}, i, "boolean");
      } else if (param->dtype.is_integer()) {
        CheckTypeCode(nest, code, {Code::kInt, Code::kBool}, i, "int");
      } else {
        CheckTypeCode(nest, code, {Code::kFloat}, i, "float");
      }
    }
  }
  void CheckTypeCode(StmtNest& nest, const tir::Var* code, std::initializer_list<TypeCodeOfValue> allowed, uint32_t i,
                     std::string_view what) {
    const PrimExpr* condition = nullptr;
    for (const TypeCodeOfValue value : allowed) {
      const PrimExpr* is_value = build_.make().Binary(NodeKind::kEQ, code, build_.Code(value));
      condition = condition ? build_.make().Binary(NodeKind::kOr, condition, is_value) : is_value;
    }
    nest.Assert(condition, fmt::format("{}: Expect arg[{}] to be {}", symbol_, i, what));
  }

  // First the parameters, because the shapes of buffers may use them, then the buffers.
  void BindParams(StmtNest& declarations) {
    for (uint32_t i = 0; i < func_.params.size(); ++i) {
      const tir::Var* param = func_.params[i];
      if (param->name != kDeviceContext) binder_.Bind(param, ArgValue(*param, i), NameOf(*param));
    }
    const int64_t device_type = DeviceTypeOf(target_);
    for (uint32_t i = 0; i < func_.params.size(); ++i) {
      const tir::Buffer* buffer = func_.param_buffers[i];
      if (!buffer || func_.params[i]->name == kDeviceContext) continue;
      binder_.BindDLTensor(*buffer, device_type, device_id_, func_.params[i], NameOf(*func_.params[i]));
      declarations.Add<tir::DeclBuffer>(buffer);
    }
  }
  std::string NameOf(const tir::Var& param) const { return fmt::format("{}.{}", symbol_, param.name); }
  const PrimExpr* ArgValue(const tir::Var& param, uint32_t i) const {
    return build_.make().Cast(param.dtype, build_.GetField(ApiType(param.dtype), args_, i, StructField::kValueContent));
  }

  const tir::Stmt* SetDevice(StmtNest& nest, const tir::Stmt* body) {
    const int64_t device_type = DeviceTypeOf(target_);
    nest.Add<tir::AttrStmt>(StrAttr::Get("default"), attr::kDeviceId, device_id_);
    nest.Add<tir::AttrStmt>(StrAttr::Get("default"), attr::kDeviceType, build_.Int32(device_type));
    if (device_type == kCpuDevice) return body;
    const PrimExpr* call = build_.Call(DataType::Int(32), op::kTirTvmCallPacked,
                                       {build_.String("__tvm_set_device"), build_.Int32(device_type), device_id_});
    return build_.Seq({build_.Evaluate(call), body});
  }

  std::vector<const tir::Var*> Params() const {
    return {args_, type_codes_->data, num_args_, ret_value_, ret_code_, resource_};
  }
  const PrimFunc* NewFunc(const tir::Stmt* body) {
    Workspace& workspace = build_.workspace();
    auto* func = workspace.New<PrimFunc>(func_);
    func->params = workspace.Copy(Params());
    func->param_buffers = workspace.Copy(std::vector<const tir::Buffer*>(func->params.size(), nullptr));
    func->body = body;
    func->ret_type = PrimType::Get(DataType::Int(32));
    func->attrs =
        func_.attrs->With(attr::kCallingConv, IntAttr::Get(1))->With(attr::kTarget, TargetAttr::Get(HostOf(target_)));
    func->type = PrimFuncType(func);
    return func;
  }

  const PrimFunc& func_;
  const std::string_view symbol_;
  const DictAttr& target_;
  const HostBuilder build_;
  DiagnosticEngine& diagnostics_;
  ArgBinder binder_;
  const tir::Var* args_;
  const tir::Buffer* type_codes_;
  const tir::Var* num_args_;
  const tir::Var* ret_value_;
  const tir::Var* ret_code_;
  const tir::Var* device_id_;
  const tir::Var* resource_;
};

// Null after an error.
const PrimFunc* MakePackedApi(const PrimFunc* func, Workspace& workspace, DiagnosticEngine& diagnostics) {
  const StrAttr* symbol = PackedSymbol(*func);
  const DictAttr* target = TargetOf(*func);
  if (!target) {
    diagnostics.Error(Location(*func), "pass-failed",
                      fmt::format("the function '{}' has no target: run tir.BindTarget before", symbol->value));
    return nullptr;
  }
  if (!HostOf(*target)) return func;
  for (const tir::Var* param : func->params) {
    if (!ApiType(param->dtype).is_void()) continue;
    diagnostics.Error(
        Location(*param), "pass-failed",
        fmt::format("a packed function cannot take '{}', which is {}", param->name, param->dtype.ToString()));
    return nullptr;
  }
  if (workspace.version() >= TextVersion::kV0_24)
    return MakeFfiFunc(*func, symbol->value, *target, workspace, diagnostics);
  return PackedFuncMaker(*func, symbol->value, *target, workspace, diagnostics).Make();
}

}  // namespace

Pass CreateMakePackedAPI(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext& context) -> Result<Module> {
    const GlobalVarSet kept = CalledByGraph(module, context);
    PackedSymbols symbols;
    for (const ModuleEntry& entry : module.functions()) {
      const auto* func = As<PrimFunc>(entry.func);
      const StrAttr* symbol = func && !kept.contains(entry.var) ? PackedSymbol(*func) : nullptr;
      if (symbol) symbols.try_emplace(entry.var, symbol->value);
    }
    return ChangeApi<PackedCallRewriter>(std::move(module), symbols, context.diagnostics, MakePackedApi);
  });
}

}  // namespace iropt
