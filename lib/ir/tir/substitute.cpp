#include "iropt/ir/tir/substitute.h"

#include "iropt/support/lookup.h"
#include "mutator_fields.h"

namespace iropt::tir {
namespace {

class Substitution final : public StmtExprMutator {
 public:
  Substitution(VarValue value, Workspace& workspace) : StmtExprMutator(workspace), value_(value) {}

  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    if (expr->interned() && !expr->has_sym_var()) return expr;
    return StmtExprMutator::VisitExpr(expr);
  }
  using StmtExprMutator::VisitBufferRegion;
  using StmtExprMutator::VisitRange;

 private:
  const PrimExpr* VisitVar(const Var* var) override {
    const PrimExpr* value = value_(var);
    return value ? value : var;
  }
  const Buffer* VisitBufferDef(const Buffer* buffer) override { return VisitBuffer(buffer); }
  const Buffer* VisitBufferUse(const Buffer* buffer) override { return VisitBuffer(buffer); }

  // Every buffer is rewritten once, so that all its uses become the same one.
  const Buffer* VisitBuffer(const Buffer* buffer) {
    const auto [known, first] = buffers_.try_emplace(buffer, buffer);
    if (!first) return known;
    const Buffer* rewritten =
        RewriteBufferFields(buffer, workspace(), [this](const PrimExpr* expr) { return VisitExpr(expr); });
    return buffers_[buffer] = rewritten;
  }

  VarValue value_;
  // Holds only some of the variables of a function: smaller than the table of a mutator.
  LookupMap<const Buffer*, const Buffer*> buffers_;
};

template <class T>
const T* SubstituteValues(const T* node, const VarValues& values, Workspace& workspace) {
  if (values.empty()) return node;
  const auto value_of = [&](const Var* var) -> const PrimExpr* { return values.Lookup(var); };
  return Substitute(node, VarValue(value_of), workspace);
}

}  // namespace

const PrimExpr* Substitute(const PrimExpr* expr, VarValue value, Workspace& workspace) {
  return Substitution(value, workspace).VisitExpr(expr);
}

const Stmt* Substitute(const Stmt* stmt, VarValue value, Workspace& workspace) {
  return Substitution(value, workspace).VisitStmt(stmt);
}

const Range* Substitute(const Range* range, VarValue value, Workspace& workspace) {
  return Substitution(value, workspace).VisitRange(range);
}

const BufferRegion* Substitute(const BufferRegion* region, VarValue value, Workspace& workspace) {
  return Substitution(value, workspace).VisitBufferRegion(region);
}

const PrimExpr* Substitute(const PrimExpr* expr, const VarValues& values, Workspace& workspace) {
  return SubstituteValues(expr, values, workspace);
}

const Stmt* Substitute(const Stmt* stmt, const VarValues& values, Workspace& workspace) {
  return SubstituteValues(stmt, values, workspace);
}

const Range* Substitute(const Range* range, const VarValues& values, Workspace& workspace) {
  return SubstituteValues(range, values, workspace);
}

const BufferRegion* Substitute(const BufferRegion* region, const VarValues& values, Workspace& workspace) {
  return SubstituteValues(region, values, workspace);
}

}  // namespace iropt::tir
