#include "signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "iropt/support/lookup.h"

namespace iropt::codegen {

namespace {

// Collects the memory accesses of a body and the dtype that it returns.
class BodyFacts : public tir::StmtExprVisitor {
 public:
  DataType returned;
  // Keyed by the pointer variables of buffers.
  LookupSet<const tir::Var*> written;
  LookupSet<const tir::Var*> escaped;

 protected:
  void VisitCall(const tir::Call* call) override {
    if (IsOp(call->op, op::kTirRet) && call->args.size() == 1 && returned.is_void()) returned = call->args[0]->dtype;
    if (IsOp(call->op, op::kTirAddressOf) && call->args.size() == 1) {
      if (const auto* load = As<tir::BufferLoad>(call->args[0])) escaped.insert(load->buffer->data);
    }
    StmtExprVisitor::VisitCall(call);
  }
  // A use of a pointer other than as the data of a buffer.
  void VisitVar(const tir::Var* var) override {
    if (var->dtype.is_handle()) escaped.insert(var);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    written.insert(store->buffer->data);
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitBlock(const tir::Block* block) override {
    StmtExprVisitor::VisitBlock(block);
    for (const tir::MatchBufferRegion* match : block->match_buffers) {
      if (written.contains(match->buffer->data)) written.insert(match->source->buffer->data);
      if (escaped.contains(match->buffer->data)) escaped.insert(match->source->buffer->data);
    }
  }
};

}  // namespace

Signature::Signature(const PrimFunc& func) {
  for (size_t i = 0; i < func.params.size(); ++i) {
    params.push_back({.var = func.params[i], .buffer = func.param_buffers[i], .slot = first_symbol});
    first_symbol += params.back().is_pointer() ? kPointerSlots : 1;
  }
  for (const Param& param : params) {
    if (!param.buffer) continue;
    AddSymbols(param.buffer->shape);
    AddSymbols(param.buffer->strides);
    if (param.buffer->elem_offset) AddSymbol(param.buffer->elem_offset);
  }
  BodyFacts facts;
  facts.VisitStmt(func.body);
  result = facts.returned;
  for (Param& param : params) {
    if (!param.buffer) continue;
    if (facts.escaped.contains(param.buffer->data) || facts.escaped.contains(param.var))
      param.access = Access::kMayWrite;
    if (facts.written.contains(param.buffer->data)) param.access = Access::kWrite;
  }
}

void Signature::AddSymbols(List<const PrimExpr*> exprs) {
  for (const PrimExpr* expr : exprs) AddSymbol(expr);
}

void Signature::AddSymbol(const PrimExpr* expr) {
  const auto* var = As<tir::Var>(expr);
  if (!var) return;
  const bool is_param = std::ranges::any_of(params, [&](const Param& param) { return param.var == var; });
  if (!is_param && std::ranges::find(symbols, var) == symbols.end()) symbols.push_back(var);
}

namespace {

class CallCollector : public tir::StmtExprVisitor {
 public:
  std::vector<const GlobalVar*> callees;
  std::vector<const NDArray*> constants;

 protected:
  void VisitCall(const tir::Call* call) override {
    if (const auto* callee = As<GlobalVar>(call->op)) callees.push_back(callee);
    StmtExprVisitor::VisitCall(call);
  }
  void VisitAllocateConst(const tir::AllocateConst* stmt) override {
    if (stmt->data) constants.push_back(stmt->data);
    StmtExprVisitor::VisitAllocateConst(stmt);
  }
};

}  // namespace

Result<CallGraph> CollectCalls(const Module& module, const GlobalVar& var) {
  CallGraph graph;
  std::vector<const GlobalVar*> names = {&var};
  for (size_t i = 0; i < names.size(); ++i) {
    const ModuleEntry* entry = module.Find(names[i]);
    const auto* func = entry ? As<PrimFunc>(entry->func) : nullptr;
    if (!func) return Error{ErrorCode::SemanticCheck, fmt::format("the module has no PrimFunc '{}'", names[i]->name)};
    graph.functions.push_back(func);
    graph.entries.push_back(*entry);
    CallCollector collector;
    collector.VisitStmt(func->body);
    graph.constants.insert(graph.constants.end(), collector.constants.begin(), collector.constants.end());
    for (const GlobalVar* callee : collector.callees) {
      if (std::ranges::find(names, callee) == names.end()) names.push_back(callee);
    }
  }
  return graph;
}

}  // namespace iropt::codegen
