#include "removal_plan.h"

#include "schedule/stmt_tools.h"

namespace iropt::schedule {

Result<RemovalPlan> PlanRemoval(State& state, const Ref* leaf) {
  Workspace& workspace = state.workspace();
  const tir::Stmt* last = leaf->stmt;
  const Ref* ref = leaf->parent;
  for (; ref->is_loop(); last = ref->stmt, ref = ref->parent) {
    const auto* seq = As<tir::SeqStmt>(ref->loop().body);
    if (seq && seq->seq.size() > 1) break;
  }
  const tir::Stmt* body = BodyOf(*ref->stmt);
  const auto* seq = As<tir::SeqStmt>(ref->is_block() ? BelowDeclarations(body) : body);
  if (!seq) return state.Refuse("{0} is all that is in {1}, and cannot be removed from it", {leaf->stmt, ref->stmt});
  std::vector<const tir::Stmt*> rest;
  for (const tir::Stmt* stmt : seq->seq) {
    const auto* realize = As<tir::BlockRealize>(stmt);
    if (stmt != last && !(realize && realize->block == last)) rest.push_back(stmt);
  }
  const tir::Stmt* new_body = WithBelowDeclarations(body, tir::MakeSeq(workspace, rest), workspace);
  return RemovalPlan{ref->stmt, WithBody(*ref->stmt, new_body, workspace)};
}

}  // namespace iropt::schedule
