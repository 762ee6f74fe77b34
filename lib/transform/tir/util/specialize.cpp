#include "specialize.h"

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/prim_func_type.h"
#include "iropt/ir/tir/mutator.h"

namespace iropt {

namespace {

class Specializer : public tir::StmtExprMutator {
 public:
  explicit Specializer(Workspace& workspace)
      : StmtExprMutator(workspace, {.rewrite_buffers = true}), make_(workspace) {}

  void SetValue(const tir::Var* var, int64_t value) { Remap(var, make_.Int(value, var->dtype)); }

  void SetScope(const tir::Buffer* buffer, std::string_view scope) {
    if (scope.empty() || scope == buffer->scope()) return;
    const tir::PointerInfo* old = buffer->data->pointer;
    const tir::PointerInfo* pointer = tir::PointerInfo::Get(old ? old->elem : buffer->dtype, scope);
    Remap(buffer->data, workspace().NewPrimVar(buffer->data->name, buffer->data->dtype, pointer));
  }

 protected:
  const PrimExpr* VisitBinary(const tir::BinaryExpr* old) override {
    const PrimExpr* a = VisitExpr(old->a);
    const PrimExpr* b = VisitExpr(old->b);
    return a == old->a && b == old->b ? old : make_.At(old->span()).Binary(old->kind, a, b);
  }

 private:
  const arith::PrimBuilder make_;
};

}  // namespace

const PrimFunc* SpecializePrimFunc(const PrimFunc* func, const PrimFuncArgs& args, Workspace& workspace) {
  Specializer specializer(workspace);
  for (const auto& [var, value] : args.values) specializer.SetValue(var, value);
  for (size_t i = 0; i < args.scopes.size() && i < func->param_buffers.size(); ++i) {
    if (const tir::Buffer* buffer = func->param_buffers[i]) specializer.SetScope(buffer, args.scopes[i]);
  }
  const PrimFunc* changed = specializer.VisitPrimFunc(func);
  if (changed == func) return func;
  auto* result = workspace.New<PrimFunc>(*changed);
  result->type = PrimFuncType(result);
  return result;
}

}  // namespace iropt
