#include "transform/tir/util/undefined_names.h"

#include <fmt/format.h>

#include <utility>

#include "iropt/ir/location.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

class NameCollector : public tir::StmtExprVisitor {
 public:
  explicit NameCollector(std::span<const tir::Var* const> defined) : known_(defined.begin(), defined.end()) {}

  UndefinedNames found;

 protected:
  void VisitVarDef(const tir::Var* var) override { known_.insert(var); }
  void VisitVar(const tir::Var* var) override {
    if (known_.insert(var)) found.vars.push_back(var);
  }
  void VisitBufferUse(const tir::Buffer* buffer) override {
    if (known_.insert(buffer)) found.buffers.push_back(buffer);
    VisitLayout(*buffer);
  }
  void VisitBufferDef(const tir::Buffer* buffer) override {
    known_.insert(buffer);
    VisitLayout(*buffer);
  }
  void VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) VisitVarDef(buffer->data);
    for (const tir::MatchBufferRegion* match : block->match_buffers) DefineLayout(*match->buffer);
    StmtExprVisitor::VisitBlock(block);
  }
  void VisitBufferRealize(const tir::BufferRealize* realize) override {
    VisitVarDef(realize->buffer->data);
    StmtExprVisitor::VisitBufferRealize(realize);
  }
  // An attribute defines the variable of a thread; other variables that it names are defined elsewhere.
  void VisitAttrStmt(const tir::AttrStmt* stmt) override {
    if (const tir::IterVar* axis = tir::ThreadAxisOf(*stmt)) VisitVarDef(axis->var);
    VisitExpr(stmt->value);
    VisitStmt(stmt->body);
  }

 private:
  void VisitLayout(const tir::Buffer& buffer) {
    VisitExpr(buffer.data);
    for (const PrimExpr* dim : buffer.shape) VisitExpr(dim);
    for (const PrimExpr* stride : buffer.strides) VisitExpr(stride);
  }
  void DefineLayout(const tir::Buffer& buffer) {
    VisitVarDef(buffer.data);
    const auto define = [this](const PrimExpr* expr) {
      if (const auto* var = As<tir::Var>(expr)) VisitVarDef(var);
    };
    for (const PrimExpr* dim : buffer.shape) define(dim);
    for (const PrimExpr* stride : buffer.strides) define(stride);
    if (buffer.elem_offset) define(buffer.elem_offset);
  }

  LookupSet<const Node*> known_;
};

}  // namespace

UndefinedNames FindUndefinedNames(const tir::Stmt* stmt, std::span<const tir::Var* const> defined) {
  NameCollector collector(defined);
  collector.VisitStmt(stmt);
  return std::move(collector.found);
}

bool CheckDefined(const PrimFunc& func, std::string_view name, DiagnosticEngine& diagnostics) {
  const UndefinedNames undefined = FindUndefinedNames(func.body, func.params);
  for (const tir::Var* var : undefined.vars) {
    diagnostics.Error(Location(func), "pass-failed",
                      fmt::format("the variable '{}' is used in the function '{}', but is not passed as an argument",
                                  var->name, name));
  }
  return undefined.vars.empty();
}

}  // namespace iropt
