// The verifier of PrimFuncs; see well_formed.h for the rules.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/scope.h"
#include "iropt/analysis/well_formed.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/location.h"
#include "iropt/ir/module.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt {

class TirVerifier {
 public:
  TirVerifier(const Module& module, const VerifyOptions& options, DiagnosticEngine& diagnostics)
      : module_(module),
        check_types_(options.check_types),
        allow_free_vars_(options.allow_free_vars),
        diagnostics_(diagnostics) {}

  void Verify(const ModuleEntry& entry);

 private:
  // Statements.
  void VisitParams(const PrimFunc& f);
  void VisitStmt(const tir::Stmt* stmt);
  void VisitBody(const tir::Stmt* stmt) {
    if (stmt) VisitStmt(stmt);
  }
  void VisitFor(const tir::For& loop);
  void VisitLoopBody(const tir::Stmt* body, bool can_jump);
  static bool IsPragmaOfLoop(const tir::AttrStmt& stmt);
  void VisitAttrStmt(const tir::AttrStmt& stmt);
  void VisitAllocate(const tir::Allocate& stmt);
  void VisitBufferRealize(const tir::BufferRealize& stmt);
  void VisitBlock(const tir::Block& block);
  void VisitBlockRealize(const tir::BlockRealize& realize);

  // Expressions and parts.
  void VisitExpr(const PrimExpr* e);
  void VisitAll(List<const PrimExpr*> list) {
    for (const PrimExpr* e : list) VisitExpr(e);
  }
  void VisitReduce(const tir::Reduce& reduce);
  void VisitCall(const tir::Call& call);
  void VisitRange(const tir::Range& range) { VisitExpr(range.min), VisitExpr(range.extent); }
  void VisitRegion(const tir::BufferRegion& region);
  void VisitBuffer(const tir::Buffer& buffer);
  void UseVar(const tir::Var* var, const Node& at);
  void ReportUse(const tir::Var* var, const Node& at);
  void ReportDefinition(const tir::Var* var, const Node& at);

  // Definitions. They last until the scope that was entered before is left.
  void Define(const tir::Var* var, const Node& at, bool redefinable = false);
  void DefineIterVar(const tir::IterVar& iter, const Node& at);
  void DefineIfUnseen(const PrimExpr* e, const Node& at);
  // Defines the variables of a matched buffer: those that are its data, shape, strides and offset.
  void DefineMatched(const tir::Buffer& buffer, const Node& at);

  // Types of operands; in types.cpp.
  void CheckOperands(const PrimExpr& e);
  void CheckBinary(const tir::BinaryExpr& e);
  void CheckLoad(const tir::BufferLoad& load);
  void CheckStore(const tir::BufferStore& store);
  bool CheckIndices(const tir::Buffer& buffer, List<const PrimExpr*> indices, const Node& at);
  void CheckPredicate(const PrimExpr* predicate, DataType value, const Node& at);
  void CheckCondition(const PrimExpr* condition, const Node& at);
  void CheckReducer(const tir::CommReducer& reducer, const tir::AttrStmt& around);
  void CheckInt(const tir::IntImm& constant);
  void CheckSame(DataType a, DataType b, const Node& at, std::string_view what);

  SourceSpan At(const Node& node) const;
  DiagnosticBuilder Error(const Node& at, DiagId kind, std::string message) {
    return diagnostics_.Error(At(at), kind, std::move(message));
  }

  const Module& module_;
  const bool check_types_;
  const bool allow_free_vars_;
  DiagnosticEngine& diagnostics_;
  VarScope<tir::Var> vars_;
  std::vector<const tir::Block*> blocks_;  // enclosing blocks with iteration variables
  bool in_declaration_ = false;            // there loop variables may be used inside any block
  bool can_jump_ = false;                  // in a loop that T.break_loop() may end
  std::pair<const Node*, const Node*> last_error_;
  const Node* around_ = nullptr;    // the current statement
  const Node* function_ = nullptr;  // the current function
};

}  // namespace iropt
