#include "prim_func_gradient.h"

#include <fmt/format.h>

#include "iropt/infer/infer.h"
#include "iropt/ir/relax/rebuild.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/ops/call_tir.h"

namespace iropt {

const GlobalVar* FindGradientFunc(const Call& call, const Module& module, GradBuilder& builder) {
  const std::string_view name = CallTIRWithGradAttrs(call).te_grad_name();
  const ModuleEntry* entry = module.Find(name);
  if (entry && Is<PrimFunc>(entry->func)) return entry->var;
  builder.Fail(fmt::format("cannot differentiate {}: the module has no PrimFunc '{}'", CalleeName(call), name));
  return nullptr;
}

const Call* CallGradient(const Call& call, const GlobalVar& gradient, const Var& grad, GradBuilder& builder) {
  Workspace& workspace = builder.workspace();
  std::vector<const Expr*> inputs = {&grad};
  std::vector<const Type*> types;
  for (const Expr* field : To<Tuple>(call.args[1])->fields) {
    inputs.push_back(field);
    types.push_back(field->type);
  }
  const Type* result = types.size() == 1 ? types[0] : TupleType::Get(workspace.arena(), types);
  std::vector<const Expr*> args = {&gradient, workspace.New<Tuple>(workspace.Copy(inputs), nullptr)};
  args.insert(args.end(), call.args.begin() + 2, call.args.end());
  return NewLike<Call>(workspace, call, GetOp(op::kCallTir), workspace.Copy(args), nullptr,
                       TupleType::Get(workspace.arena(), std::span(&result, 1)), nullptr);
}

const Call* WithoutGradient(const Call& call, Workspace& workspace) {
  if (!IsOp(call.op, op::kCallTirWithGrad)) return &call;
  return NewLike<Call>(workspace, call, GetOp(op::kCallTir), call.args, nullptr, call.type_args, call.type);
}

}  // namespace iropt
