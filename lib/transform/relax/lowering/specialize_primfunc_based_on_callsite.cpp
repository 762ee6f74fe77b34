// SpecializePrimFuncBasedOnCallSite: specializes PrimFuncs to the shapes and memory scopes of the tensors that call_tir
// passes to them.
//
//   y = R.call_tir(cls.exp, (x,), out_sinfo=R.Tensor((4,), "float32", "opencl:0:global.texture"))
//   def exp(a, b):                             def exp(A: T.Buffer((4,), "float32"),
//       n = T.int64()                   -->            B: T.Buffer((4,), "float32", scope="global.texture")):
//       A = T.match_buffer(a, (n,))                for i in range(4): ...
//       B = T.match_buffer(b, (n,))
//       for i in range(n): ...
//
// A dimension that is a variable in the function and a number at the call gets that number. A tensor on a virtual
// device gives its parameter the memory scope of the device. Each kind of call gets a function of its own; the first
// one is the function itself, if it is private and not used otherwise. All of them get the attribute "scoped". Calls in
// primitive functions stay. O(nodes), and of each function once for each kind of call.
//
// Source: the pass of this name in TVM 0.23, which has one function for all calls, the last of which decides.
#include <algorithm>
#include <optional>
#include <vector>

#include "iropt/analysis/relax/called_functions.h"
#include "iropt/arith/analyzer.h"
#include "iropt/ir/clone.h"
#include "iropt/ir/module_builder.h"
#include "iropt/ir/relax/rewriter.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "relax_functions.h"
#include "transform/tir/util/specialize.h"

namespace iropt {

namespace {

// Adds what a tensor tells about its parameter. False if the two do not fit.
bool AddTensor(const TensorType* tensor, const tir::Buffer* buffer, PrimFuncArgs& args) {
  if (!tensor || !buffer) return false;
  args.scopes.push_back(tensor->vdevice ? tensor->vdevice->memory_scope : std::string_view());
  if (!tensor->known) return true;
  if (tensor->dims.size() != buffer->shape.size()) return false;
  for (uint32_t i = 0; i < buffer->shape.size(); ++i) {
    const auto* var = As<tir::Var>(buffer->shape[i]);
    const int64_t* size = arith::AsInt(tensor->dims[i]);
    if (!var || !size) continue;
    const auto known = std::ranges::find(args.values, var, [](const auto& value) { return value.first; });
    if (known == args.values.end()) {
      args.values.emplace_back(var, *size);
    } else if (known->second != *size) {
      return false;
    }
  }
  return true;
}

// Returns the facts about the arguments of the function that the call shows; nothing if the two do not fit.
std::optional<PrimFuncArgs> ArgsOf(const Call& call, const PrimFunc& func) {
  const auto* operands = As<Tuple>(call.args[1]);
  if (!operands || !call.type_args) return std::nullopt;
  std::vector<const Type*> types;
  for (const Expr* operand : operands->fields) types.push_back(operand->type);
  const Type* result = call.type_args->fields[0];
  if (const auto* tuple = As<TupleType>(result)) {
    types.insert(types.end(), tuple->fields.begin(), tuple->fields.end());
  } else {
    types.push_back(result);
  }
  if (types.size() > func.param_buffers.size()) return std::nullopt;
  PrimFuncArgs args;
  for (uint32_t i = 0; i < types.size(); ++i) {
    if (!AddTensor(As<TensorType>(types[i]), func.param_buffers[i], args)) return std::nullopt;
  }
  return args;
}

// The PrimFunc that a call_tir calls, or null.
const PrimFunc* CalledPrimFunc(const Call& call, const Module& module) {
  const auto* name = IsOp(call.op, op::kCallTir) ? As<GlobalVar>(call.args[0]) : nullptr;
  const ModuleEntry* entry = name ? module.Find(name) : nullptr;
  return entry ? As<PrimFunc>(entry->func) : nullptr;
}

// A function and its calls.
struct Callee {
  struct Kind {
    PrimFuncArgs args;
    const GlobalVar* name;  // of the function for it
  };
  std::vector<Kind> kinds = {};
  size_t references = 0;
  size_t calls = 0;  // those of `references` that are calls of a kind

  Kind* Find(const PrimFuncArgs& args) {
    const auto found = std::ranges::find(kinds, args, &Kind::args);
    return found == kinds.end() ? nullptr : &*found;
  }
};
using Callees = LookupMap<const GlobalVar*, Callee>;

struct CallCollector : WalkHandler {
  CallCollector(const Module& m, Callees& c) : module(m), callees(c) {}
  void OnGlobal(const GlobalVar* name) { ++callees[name].references; }
  bool EnterFunction(const Function& function) {
    primitive_depth += IsPrimitive(function);
    return true;
  }
  void LeaveFunction(const Function& function) { primitive_depth -= IsPrimitive(function); }
  void OnCall(const Call& call) {
    const PrimFunc* func = primitive_depth == 0 ? CalledPrimFunc(call, module) : nullptr;
    const std::optional<PrimFuncArgs> args = func ? ArgsOf(call, *func) : std::nullopt;
    if (!args) return;
    const auto* name = To<GlobalVar>(call.args[0]);
    Callee& callee = callees[name];
    ++callee.calls;
    if (!callee.Find(*args)) callee.kinds.push_back({*args, name});
  }

  const Module& module;
  Callees& callees;
  int primitive_depth = 0;
};

class CallRenamer : private ExprRewriter<CallRenamer> {
 public:
  CallRenamer(const Module& module, Callees& callees, Workspace& workspace)
      : ExprRewriter(workspace, nullptr, Retype::kNever), module_(module), callees_(callees) {}
  const Function* Run(const Function* function) { return To<Function>(VisitFunction(function)); }

 private:
  friend class ExprRewriter<CallRenamer>;

  const Expr* VisitFunction(const Function* function) {
    return IsPrimitive(*function) ? function : ExprRewriter::VisitFunction(function);
  }

  const Expr* VisitCall(const Call* call) {
    const PrimFunc* func = CalledPrimFunc(*call, module_);
    const std::optional<PrimFuncArgs> args = func ? ArgsOf(*call, *func) : std::nullopt;
    if (!args) return call;
    const GlobalVar* name = callees_.at(To<GlobalVar>(call->args[0])).Find(*args)->name;
    std::vector<const Expr*> operands(call->args.begin(), call->args.end());
    if (operands[0] == name) return call;
    operands[0] = name;
    return NewLike<Call>(workspace(), *call, call->op, workspace().Copy(operands), call->attrs, call->type_args,
                         call->type);
  }

  const Module& module_;
  Callees& callees_;
};

// The function with the attribute that tells later passes that its buffers have the scopes of its arguments.
const PrimFunc* MarkScoped(const PrimFunc* func, Workspace& workspace) {
  const DictAttr* attrs = func->attrs->With(attr::kScoped, IntAttr::Get(1));
  if (attrs == func->attrs) return func;
  auto* marked = workspace.New<PrimFunc>(*func);
  marked->attrs = attrs;
  return marked;
}

// Makes the functions for all kinds of calls of a function. True if some call gets another function.
bool Specialize(const ModuleEntry& entry, Callee& callee, ModuleBuilder& builder) {
  const auto* func = To<PrimFunc>(entry.func);
  Workspace workspace(builder.module(), entry.storage);
  std::vector<const PrimFunc*> special;
  for (const Callee::Kind& kind : callee.kinds) special.push_back(SpecializePrimFunc(func, kind.args, workspace));
  const bool fits = std::ranges::find(special, func) != special.end();
  const bool is_needed = func->attrs->Find(attr::kGlobalSymbol) || callee.calls < callee.references || fits;
  bool renamed = false;
  for (size_t i = is_needed ? 0 : 1; i < special.size(); ++i) {
    if (special[i] == func) continue;
    Workspace copy(builder.module());
    auto* own = copy.New<PrimFunc>(*MarkScoped(To<PrimFunc>(CloneFunction(special[i], copy)), copy));
    own->attrs = own->attrs->Without(attr::kGlobalSymbol);
    callee.kinds[i].name = builder.AddFunction(own, copy.Finish(), entry.var->name);
    renamed = true;
  }
  const PrimFunc* kept = fits ? func : is_needed ? nullptr : special[0];
  const PrimFunc* marked = kept ? MarkScoped(kept, workspace) : func;
  if (marked != func) builder.UpdateFunction(entry.var, marked, workspace.Finish());
  return renamed;
}

}  // namespace

Pass CreateSpecializePrimFuncBasedOnCallSite(const PassOptions& options) {
  return CreateModulePass(options.info(), [](const Module& module, ModulePassContext& context) -> Result<Module> {
    Callees callees;
    CallCollector collector(module, callees);
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* function = As<Function>(entry.func)) {
        Walk(*function, collector);
        continue;
      }
      for (const GlobalVar* name : *context.Analysis<CalledFunctions>(entry)) ++callees[name].references;
    }
    ModuleBuilder builder(module);
    bool renamed = false;
    for (const ModuleEntry& entry : module.functions()) {
      Callee* found = callees.Find(entry.var);
      if (found && !found->kinds.empty()) renamed |= Specialize(entry, *found, builder);
    }
    for (const GlobalVar* name : renamed ? RelaxFunctions(module) : std::vector<const GlobalVar*>()) {
      const ModuleEntry& entry = *module.Find(name);
      Workspace workspace(module, entry.storage);
      const auto* function = CallRenamer(module, callees, workspace).Run(To<Function>(entry.func));
      if (function != entry.func) builder.UpdateFunction(name, function, workspace.Finish());
    }
    return builder.Finish();
  });
}

}  // namespace iropt
