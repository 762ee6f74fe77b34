// tir.ConvertSSA: gives each definition of a variable a variable of its own.
//
//   with T.LetStmt(1, var=x):             with T.LetStmt(1) as x:
//       T.evaluate(x)                         T.evaluate(x)
//   with T.LetStmt(2, var=x):       -->   with T.LetStmt(2) as x_1:
//       T.evaluate(x)                         T.evaluate(x_1)
//
// The first definition keeps the variable, and a use refers to the innermost definition around it. A buffer on a
// variable that changes becomes another one. A thread axis is defined once for the whole function, however often it is
// launched. A function that shares a variable with one before it, which text cannot express, becomes a copy. For
// modules that other programs made: ir-opt reads them with -no-verify, because repeated definitions are ill-formed.
// O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "iropt/ir/clone.h"
#include "iropt/ir/tir/copy_if_changed.h"
#include "iropt/ir/tir/mutator.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

using Vars = LookupSet<const tir::Var*>;

// The variables that a function defines, in the order of their definitions.
class DefinedVars : public tir::StmtExprVisitor {
 public:
  static std::vector<const tir::Var*> Of(const PrimFunc& func) {
    DefinedVars finder;
    finder.VisitPrimFunc(&func);
    return std::move(finder.found_);
  }

 protected:
  void VisitVarDef(const tir::Var* var) override { found_.push_back(var); }
  void VisitBufferDef(const tir::Buffer* buffer) override { found_.push_back(buffer->data); }

 private:
  std::vector<const tir::Var*> found_;
};

// Within one function.
class SsaConverter : public tir::StmtExprMutator {
 public:
  using StmtExprMutator::StmtExprMutator;

  const PrimFunc* Convert(const PrimFunc* func) {
    defined_.InsertAll(func->params);
    for (const tir::Buffer* buffer : func->param_buffers) {
      if (buffer) DefineMatched(*buffer);
    }
    const tir::Stmt* body = VisitStmt(func->body);
    return WithBody(func, body, workspace());
  }

  // The scope of a variable ends with the statement or expression that defines it.
  const tir::Stmt* VisitStmt(const tir::Stmt* stmt) override {
    const size_t outer = renamed_.size();
    const tir::Stmt* visited = StmtExprMutator::VisitStmt(stmt);
    EndScope(outer);
    return visited;
  }
  const PrimExpr* VisitExpr(const PrimExpr* expr) override {
    const size_t outer = renamed_.size();
    const PrimExpr* visited = StmtExprMutator::VisitExpr(expr);
    EndScope(outer);
    return visited;
  }

 protected:
  const tir::Var* VisitVarDef(const tir::Var* var) override {
    if (defined_.insert(var)) return var;
    const auto* announced = pending_defs_.Find(var);
    const bool is_announced = announced;
    const tir::Var* copy = is_announced ? *announced : Copy(*var);
    if (is_announced) pending_defs_.erase(var);
    renamed_.emplace_back(var, RemapOf(var));
    Remap(var, copy);
    return copy;
  }

  const tir::IterVar* VisitIterVar(const tir::IterVar* iter_var) override {
    if (iter_var->iter_type != tir::IterVarType::kThreadIndex) return StmtExprMutator::VisitIterVar(iter_var);
    DefineThread(iter_var->var);
    return WithVar(iter_var, To<tir::Var>(VisitExpr(iter_var->var)));
  }

  const tir::Stmt* VisitAttrStmt(const tir::AttrStmt* stmt) override {
    const auto* iter_var = As<tir::IterVar>(stmt->node);
    if (!iter_var || iter_var->iter_type == tir::IterVarType::kThreadIndex) return StmtExprMutator::VisitAttrStmt(stmt);
    // The attribute may announce the variable of a loop below it.
    tir::AttrStmt copy = *stmt;
    copy.node = WithVar(iter_var, ForwardDeclare(iter_var->var));
    copy.value = VisitExpr(stmt->value);
    copy.body = VisitStmt(stmt->body);
    return tir::CopyIfChanged(stmt, copy, workspace());
  }

  const tir::Stmt* VisitBlock(const tir::Block* block) override {
    for (const tir::Buffer* buffer : block->alloc_buffers) VisitVarDef(buffer->data);
    for (const tir::MatchBufferRegion* match : block->match_buffers) DefineMatched(*match->buffer);
    return StmtExprMutator::VisitBlock(block);
  }

  const tir::Buffer* VisitBufferDef(const tir::Buffer* buffer) override { return Current(buffer); }
  const tir::Buffer* VisitBufferUse(const tir::Buffer* buffer) override { return Current(buffer); }

 private:
  // A buffer where its variables have other names, by these names.
  using Versions = std::map<std::vector<const PrimExpr*>, const tir::Buffer*>;

  const tir::Var* Copy(const tir::Var& var) {
    if (var.is_size_var()) return workspace().New<tir::SizeVar>(var.name, var.dtype, workspace().NextVarId());
    return workspace().NewPrimVar(var.name, var.dtype, var.pointer);
  }

  void EndScope(size_t outer) {
    while (renamed_.size() > outer) {
      Remap(renamed_.back().first, renamed_.back().second);
      renamed_.pop_back();
    }
  }

  // A variable that is defined for the rest of the function.
  void DefineThread(const tir::Var* var) {
    if (threads_.insert(var) && !defined_.insert(var)) Remap(var, Copy(*var));
  }

  const tir::Var* ForwardDeclare(const tir::Var* var) {
    if (const PrimExpr* current = RemapOf(var)) return To<tir::Var>(current);
    if (!defined_.contains(var)) return var;
    const tir::Var*& copy = pending_defs_[var];
    if (!copy) copy = Copy(*var);
    return copy;
  }

  // The data and the shape of a buffer, which may also be those of another one.
  void DefineMatched(const tir::Buffer& buffer) {
    const auto define = [this](const PrimExpr* expr) {
      const auto* var = As<tir::Var>(expr);
      if (var) defined_.insert(var);
    };
    define(buffer.data);
    define(buffer.elem_offset);
    for (const PrimExpr* dim : buffer.shape) define(dim);
    for (const PrimExpr* stride : buffer.strides) define(stride);
  }

  const tir::IterVar* WithVar(const tir::IterVar* iter_var, const tir::Var* var) {
    const tir::Range* dom = iter_var->dom ? VisitRange(iter_var->dom) : nullptr;
    if (dom == iter_var->dom && var == iter_var->var) return iter_var;
    return workspace().New<tir::IterVar>(dom, var, iter_var->iter_type, iter_var->thread_tag);
  }

  template <class F>
  static void ForEachExpr(const tir::Buffer& buffer, F&& visit) {
    visit(buffer.data);
    for (const PrimExpr* dim : buffer.shape) visit(dim);
    for (const PrimExpr* stride : buffer.strides) visit(stride);
    if (buffer.elem_offset) visit(buffer.elem_offset);
  }

  const tir::Buffer* Current(const tir::Buffer* buffer) {
    std::vector<const PrimExpr*> names;
    bool renamed = false;
    ForEachExpr(*buffer, [&](const PrimExpr* expr) {
      tir::ForEachVar(expr, [&](const tir::Var* var) {
        const PrimExpr* name = RemapOf(var);
        renamed |= name != nullptr;
        names.push_back(name);
      });
    });
    if (!renamed) return buffer;
    const tir::Buffer*& version = versions_[buffer][std::move(names)];
    if (!version) version = Rename(*buffer);
    return version;
  }

  const tir::Buffer* Rename(const tir::Buffer& buffer) {
    const auto rename_all = [this](List<const PrimExpr*> exprs) {
      std::vector<const PrimExpr*> renamed;
      renamed.reserve(exprs.size());
      for (const PrimExpr* expr : exprs) renamed.push_back(VisitExpr(expr));
      return workspace().Copy(renamed);
    };
    tir::Buffer copy = buffer;
    copy.id = workspace().NextVarId();
    copy.data = To<tir::Var>(VisitExpr(buffer.data));
    copy.shape = rename_all(buffer.shape);
    copy.strides = rename_all(buffer.strides);
    if (buffer.elem_offset) copy.elem_offset = VisitExpr(buffer.elem_offset);
    return workspace().New<tir::Buffer>(copy);
  }

  Vars defined_;
  Vars threads_;
  // The variables that have other names in open scopes, with the names that they had outside.
  std::vector<std::pair<const tir::Var*, const PrimExpr*>> renamed_;
  LookupMap<const tir::Var*, const tir::Var*> pending_defs_;  // the next definitions of variables
  LookupMap<const tir::Buffer*, Versions> versions_;
};

// Replaces the functions that share variables with functions before them, or define one twice.
void ConvertFunction(Module& module, size_t i, Vars& defined) {
  const ModuleEntry entry = module.functions()[i];
  const auto* func = As<PrimFunc>(entry.func);
  if (!func) return;
  const std::vector<const tir::Var*> vars = DefinedVars::Of(*func);
  Workspace workspace(module, entry.storage);
  if (std::ranges::any_of(vars, [&](const tir::Var* var) { return defined.contains(var); })) {
    workspace = Workspace(module);
    func = To<PrimFunc>(CloneFunction(func, workspace, {.fresh_sym_vars = true}));
  } else {
    defined.InsertAll(vars);
  }
  func = SsaConverter(workspace).Convert(func);
  if (func != entry.func) module.SetAt(i, func, workspace.Finish());
}

}  // namespace

Pass CreateConvertSSA(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> {
    Vars defined;
    for (size_t i = 0; i < module.size(); ++i) ConvertFunction(module, i, defined);
    return module;
  });
}

}  // namespace iropt
