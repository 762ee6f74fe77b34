// tir.SplitHostDevice: moves the parts of functions that run on a device into functions of their own.
//
//   @T.prim_func                                     @T.prim_func
//   def main(n: T.int32):                            def main(n: T.int32):
//       T.attr(T.target("cuda"), "target", 0)            Module.main_kernel(n)
//       T.evaluate(n)                         -->
//                                                    @T.prim_func(private=True)
//                                                    def main_kernel(n: T.int32):
//                                                        T.func_attr({"target": T.target("cuda"), ...})
//                                                        T.evaluate(n)
//
// The new function takes the variables that the part uses, pointers first, by name. One for a CPU returns an error
// code, which the caller checks. O(nodes + sorting the variables).
//
// With the option lower_launches, this is all that TVM 0.25 does in one pass: tir.AnnotateDeviceRegions comes before,
// tir.LowerDeviceKernelLaunch after it, and kernels declare the buffers of parameters whose memory they use. From 0.26
// on kernels declare buffers over parameters with other names, A over A_ptr, and keep the launch parameters that the
// function asks for.
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "iropt/transform/options/SplitHostDevice.h"
#include "transform/tir/host/device_split.h"
#include "transform/tir/host/func_target.h"
#include "transform/tir/util/undefined_names.h"

namespace iropt {

namespace {

// Kinds of devices whose code can return an error code, by DLPack's numbers: CPU, ExtDev, Hexagon.
bool ReturnsErrorCode(const DictAttr& target) {
  const int64_t device = DeviceTypeOf(target);
  return device == kCpuDevice || device == 12 || device == 16;
}

// The buffers of parameters whose pointers the code passes on or declares other buffers over, in the order of these
// uses.
class ParamPointerUses : public tir::StmtExprVisitor {
 public:
  explicit ParamPointerUses(const PrimFunc& func) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) by_pointer_[buffer->data] = buffer;
    }
  }
  std::vector<const tir::Buffer*> buffers;

 protected:
  void VisitVar(const tir::Var* var) override {
    const auto* found = by_pointer_.Find(var);
    if (!found) return;
    buffers.push_back(*found);
    by_pointer_.erase(var);
  }
  void VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    VisitVar(decl->buffer->data);
    StmtExprVisitor::VisitDeclBuffer(decl);
  }

 private:
  LookupMap<const tir::Var*, const tir::Buffer*> by_pointer_;
};

// The variables that are passed on, or that buffers are declared over.
class PassedVars : public tir::StmtExprVisitor {
 public:
  LookupSet<const tir::Var*> vars;

 protected:
  void VisitVar(const tir::Var* var) override { vars.insert(var); }
  void VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    VisitVar(decl->buffer->data);
    StmtExprVisitor::VisitDeclBuffer(decl);
  }
};

// Removes the attributes that state how the kernel is to be compiled, and finds their values.
class LaunchBoundsRemover : public tir::StmtExprMutator {
 public:
  explicit LaunchBoundsRemover(Workspace& workspace) : StmtExprMutator(workspace) {}

  std::vector<DictAttr::Entry> found;  // by the key as the attribute of a function

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    constexpr std::pair<std::string_view, std::string_view> kKeys[] = {
        {"tirx.launch_bounds_min_blocks_per_sm", "tir.launch_bounds_min_blocks_per_sm"},
        {"tirx.launch_bounds_max_blocks_per_cluster", "tir.launch_bounds_max_blocks_per_cluster"},
        {"tirx.max_registers", "tir.max_registers"}};
    const int64_t* value = arith::AsInt(stmt->value);
    const auto* key = std::ranges::find(kKeys, stmt->attr_key, &std::pair<std::string_view, std::string_view>::first);
    if (key == std::end(kKeys) || !value) return StmtExprMutator::VisitAttrStmt(stmt);
    found.emplace_back(key->second, IntAttr::Get(*value));
    return VisitStmt(stmt->body);
  }
};

class HostDeviceSplitter : public tir::StmtExprMutator {
 public:
  // New functions are added to `module`, named after the prefix. They declare the buffers of the parameters of `owner`
  // whose memory they use, if that is not null.
  HostDeviceSplitter(Module& module, std::string prefix, const PrimFunc* owner, Workspace& workspace)
      : StmtExprMutator(workspace), build_(workspace), module_(module), prefix_(std::move(prefix)), owner_(owner) {}

  // Those that buffers need to be passed to kernels.
  LookupMap<const tir::Buffer*, tir::Var*> pointers;

 protected:
  const PrimExpr* VisitExpr(const PrimExpr* expr) override { return expr; }
  const tir::Stmt* VisitAllocate(const tir::Allocate* allocate) override {
    without_buffer_.insert(allocate->buffer_var);
    return StmtExprMutator::VisitAllocate(allocate);
  }
  const tir::Stmt* VisitLetStmt(const tir::LetStmt* let) override {
    if (let->var->dtype.is_handle()) without_buffer_.insert(let->var);
    return StmtExprMutator::VisitLetStmt(let);
  }
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    if (without_buffer_.erase(decl->buffer->data) == 0) declared_over_.insert(decl->buffer);
    return StmtExprMutator::VisitDeclBuffer(decl);
  }
  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* target = stmt->attr_key == attr::kTarget ? As<Attr>(stmt->node) : nullptr;
    const DictAttr* config = target ? TargetConfig(target) : nullptr;
    return config ? Split(stmt->body, WithoutHost(config)) : StmtExprMutator::VisitAttrStmt(stmt);
  }

 private:
  const tir::Stmt* Split(const tir::Stmt* body, const DictAttr* target) {
    UndefinedNames names = FindUndefinedNames(body);
    if (owner_) {
      ParamPointerUses uses(*owner_);
      uses.VisitStmt(body);
      for (const tir::Buffer* buffer : uses.buffers) {
        if (std::ranges::count(names.buffers, buffer) == 0) names.buffers.push_back(buffer);
      }
    }
    std::ranges::stable_sort(names.vars, {},
                             [](const tir::Var* var) { return std::tuple(!var->dtype.is_handle(), var->name); });
    const bool returns_code = ReturnsErrorCode(*target);
    if (returns_code) body = build_.Seq({body, build_.Return(0)});
    std::vector<const tir::Var*> params = names.vars;
    if (owner_ && workspace().version() >= TextVersion::kV0_26) {
      body = DeclareOverParams(names.buffers, params, body);
    } else {
      for (const tir::Buffer* buffer : names.buffers) body = workspace().New<tir::DeclBuffer>(buffer, body);
    }
    const GlobalVar* kernel = AddFunc(params, body, target, returns_code);

    std::vector<const PrimExpr*> args(names.vars.begin(), names.vars.end());
    if (owner_ && workspace().version() >= TextVersion::kV0_26) PassOwnPointers(names.buffers, args);
    if (!returns_code) return build_.Evaluate(build_.Call(DataType::Void(), kernel, args));
    const tir::Var* code = workspace().NewPrimVar("kernel_error_code", DataType::Int(32));
    StmtNest check(build_);
    check.Add<tir::LetStmt>(code, build_.Call(DataType::Int(32), kernel, args));
    check.Assert(build_.make().Binary(NodeKind::kEQ, code, build_.Int32(0)), "Error executing compute kernel");
    return check.Around(build_.Nop());
  }

  // A kernel is passed the pointer of the buffer that it uses, also if that is declared over the memory of another one.
  void PassOwnPointers(std::span<const tir::Buffer* const> buffers, std::vector<const PrimExpr*>& args) {
    for (const tir::Buffer* buffer : buffers) {
      const auto arg = std::ranges::find(args, static_cast<const PrimExpr*>(buffer->data));
      if (arg == args.end() || !declared_over_.contains(buffer)) continue;
      tir::Var*& pointer = pointers[buffer];
      if (!pointer) {
        pointer =
            workspace().NewPrimVar(fmt::format("{}_data", buffer->name), DataType::Handle(), buffer->data->pointer);
        pointer->flags |= tir::Var::kBufferPointer;
      }
      *arg = pointer;
    }
  }

  // The body with the buffers over new parameters, or over pointers of their own with these values if it passes them
  // on.
  const tir::Stmt* DeclareOverParams(std::span<const tir::Buffer* const> buffers, std::vector<const tir::Var*>& params,
                                     const tir::Stmt* body) {
    Cloner cloner(workspace());
    LookupMap<const tir::Var*, const tir::Buffer*> last;  // by pointer
    for (const tir::Buffer* buffer : buffers) last[buffer->data] = buffer;
    PassedVars passed;
    passed.VisitStmt(body);
    // The pointer of each parameter that changes, with the new parameter.
    LookupMap<const tir::Var*, std::pair<const tir::Var*, const tir::Var*>> pointers;
    for (const tir::Var*& param : params) {
      const auto* found = last.Find(param);
      if (!found) {
        cloner.Map(param, param);
        continue;
      }
      const tir::Var* old = std::exchange(
          param, workspace().NewPrimVar(fmt::format("{}_ptr", (*found)->name), param->dtype, param->pointer));
      if (!passed.vars.contains(old)) {
        cloner.Map(old, param);
        continue;
      }
      tir::Var* pointer = workspace().NewPrimVar((*found)->name, param->dtype, param->pointer);
      pointer->flags |= tir::Var::kBufferPointer;
      cloner.Map(old, pointer);
      pointers[old] = {pointer, param};
    }
    body = cloner.Clone(body);
    for (const tir::Buffer* buffer : buffers) {
      body = workspace().New<tir::DeclBuffer>(cloner.Clone(buffer), body);
      const auto* pointer = pointers.Find(buffer->data);
      if (!pointer || last.at(buffer->data) != buffer) continue;
      body = workspace().New<tir::LetStmt>(pointer->first, pointer->second, body);
    }
    return body;
  }

  // The function gets variables of its own.
  const GlobalVar* AddFunc(const std::vector<const tir::Var*>& params, const tir::Stmt* body, const DictAttr* target,
                           bool returns_code) {
    const DictAttr::Entry attrs[] = {{attr::kTarget, TargetAttr::Get(target)},
                                     {attr::kNoAlias, IntAttr::Bool(true)},
                                     {attr::kIsGlobalFunc, IntAttr::Bool(true)}};
    const DictAttr* func_attrs = DictAttr::Get(attrs);
    const Attr* requested = owner_ && workspace().version() >= TextVersion::kV0_26
                                ? owner_->attrs->Find(attr::kKernelLaunchParams)
                                : nullptr;
    if (requested) func_attrs = func_attrs->With(attr::kKernelLaunchParams, requested);
    if (owner_ && workspace().version() >= TextVersion::kV0_25) body = MoveLaunchBounds(body, *target, func_attrs);
    const Type* result = returns_code ? static_cast<const Type*>(PrimType::Get(DataType::Int(32))) : TupleType::Get({});
    PrimFunc func(workspace().Copy(params), workspace().Copy(std::vector<const tir::Buffer*>(params.size(), nullptr)),
                  body, result, func_attrs, nullptr);
    func.type = PrimFuncType(&func);
    Workspace own(module_);
    const BaseFunc* copy = CloneFunction(&func, own, {.fresh_sym_vars = true});
    const GlobalVar* var = GlobalVar::Get(UniqueName());
    module_.Set(var, copy, own.Finish());
    return var;
  }
  // The attributes of the body that bound the launches become those of the function, if it is one of CUDA.
  const tir::Stmt* MoveLaunchBounds(const tir::Stmt* body, const DictAttr& target, const DictAttr*& func_attrs) {
    LaunchBoundsRemover remover(workspace());
    body = remover.VisitStmt(body);
    const auto* kind = As<StrAttr>(target.Find("kind"));
    if (!kind || kind->value != "cuda") return body;
    for (const auto& [key, value] : remover.found) func_attrs = func_attrs->With(key, value);
    return body;
  }
  // With the first number that is free: those below the last one are taken.
  std::string UniqueName() {
    const std::string name = prefix_ + "_kernel";
    std::string unique = num_named_ == 0 ? name : fmt::format("{}_{}", name, num_named_);
    while (module_.Find(unique)) unique = fmt::format("{}_{}", name, ++num_named_);
    return unique;
  }

  const HostBuilder build_;
  Module& module_;
  const std::string prefix_;
  const PrimFunc* const owner_;
  size_t num_named_ = 0;
  LookupSet<const tir::Var*> without_buffer_;    // pointers that no buffer was declared with yet
  LookupSet<const tir::Buffer*> declared_over_;  // the buffers over the memory of others
};

// Gives buffers pointers of their own, bound to those of the memory that they are declared over.
class PointerGiver : public tir::StmtExprMutator {
 public:
  PointerGiver(const LookupMap<const tir::Buffer*, tir::Var*>& pointers, Workspace& workspace)
      : StmtExprMutator(workspace, tir::kRewriteBuffers), pointers_(pointers) {}

 protected:
  const tir::Stmt* VisitDeclBuffer(const tir::DeclBuffer* decl) override {
    const tir::Var* pointer = pointers_.Lookup(decl->buffer);
    if (!pointer) return StmtExprMutator::VisitDeclBuffer(decl);
    tir::Buffer copy = *decl->buffer;
    copy.data = pointer;
    copy.id = workspace().NextVarId();
    const auto* buffer = workspace().New<tir::Buffer>(copy);
    Remap(decl->buffer, buffer);
    const auto* declared = workspace().New<tir::DeclBuffer>(buffer, VisitStmt(decl->body));
    return workspace().New<tir::LetStmt>(pointer, decl->buffer->data, declared);
  }

 private:
  const LookupMap<const tir::Buffer*, tir::Var*>& pointers_;
};

// `annotates`: the parts for the device are found first. False after an error.
bool SplitFunctions(Module& module, bool annotates, DiagnosticEngine& diagnostics) {
  const size_t size = module.size();
  for (size_t i = 0; i < size; ++i) {
    const ModuleEntry entry = module.functions()[i];
    const auto* func = As<PrimFunc>(entry.func);
    if (!func) continue;
    const StrAttr* symbol = GlobalSymbolOf(*func);
    Workspace workspace(module, entry.storage);
    const PrimFunc* annotated = annotates ? AnnotateDeviceRegions(func, workspace, diagnostics) : func;
    if (!annotated) return false;
    HostDeviceSplitter splitter(module, std::string(symbol ? symbol->value : entry.var->name),
                                annotates ? func : nullptr, workspace);
    const tir::Stmt* body = splitter.VisitStmt(annotated->body);
    if (body == func->body) continue;
    if (!splitter.pointers.empty()) body = PointerGiver(splitter.pointers, workspace).VisitStmt(body);
    const PrimFunc* made = WithBody(func, body, workspace);
    module.SetAt(i, made, workspace.Finish());
  }
  return true;
}

}  // namespace

Pass CreateSplitHostDevice(const PassOptions& options) {
  const bool lowers = *pass_options::SplitHostDevice(options).lower_launches;
  return CreateModulePass(options.info(), [lowers](Module module, ModulePassContext& context) -> Result<Module> {
    if (!SplitFunctions(module, lowers, context.diagnostics)) return Failure{ErrorCode::PassFailed};
    if (!lowers) return module;
    return LowerDeviceKernelLaunches(std::move(module), /*runs_on_host=*/true, context.diagnostics);
  });
}

}  // namespace iropt
