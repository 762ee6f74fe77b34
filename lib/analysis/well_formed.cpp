#include "iropt/analysis/well_formed.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/relax/verifier.h"
#include "analysis/tir/verifier.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/lookup.h"
#include "iropt/support/parallel.h"

namespace iropt {

namespace {

// The number of chunks per thread, which balances functions of unequal size.
constexpr size_t kChunksPerThread = 8;

using SymVars = std::vector<const tir::Var*>;

// Checks functions in sequence with tables that are allocated once.
class FunctionVerifier {
 public:
  FunctionVerifier(const Module& module, const VerifyOptions& options, DiagnosticEngine& diagnostics)
      : module_(module), relax_(module, options.check_types, diagnostics), tir_(module, options, diagnostics) {}

  // Returns the symbolic variables that the function defines.
  SymVars Verify(size_t index) {
    const ModuleEntry& entry = module_.functions()[index];
    if (Is<Function>(entry.func)) {
      relax_.Verify(entry);
      return relax_.TakeSymVars();
    }
    if (Is<PrimFunc>(entry.func)) tir_.Verify(entry);
    return {};
  }

 private:
  const Module& module_;
  RelaxVerifier relax_;
  TirVerifier tir_;
};

std::vector<SymVars> VerifyInOrder(const Module& module, const VerifyOptions& options, DiagnosticEngine& diagnostics) {
  std::vector<SymVars> sym_vars(module.size());
  FunctionVerifier verifier(module, options, diagnostics);
  for (size_t i = 0; i < module.size() && !diagnostics.error_limit_reached(); ++i) sym_vars[i] = verifier.Verify(i);
  return sym_vars;
}

std::vector<SymVars> VerifyInParallel(const Module& module, const VerifyOptions& options,
                                      DiagnosticEngine& diagnostics) {
  std::vector<SymVars> sym_vars(module.size());
  const size_t chunks = std::min(module.size(), options.threads * kChunksPerThread);
  std::vector<DiagnosticBuffer> buffers(chunks);
  ParallelFor(chunks, options.threads, [&](size_t chunk) {
    DiagnosticEngine engine(&buffers[chunk], 0);
    FunctionVerifier verifier(module, options, engine);
    const size_t end = module.size() * (chunk + 1) / chunks;
    for (size_t i = module.size() * chunk / chunks; i < end; ++i) sym_vars[i] = verifier.Verify(i);
  });
  for (DiagnosticBuffer& buffer : buffers) buffer.ReplayInto(diagnostics);
  return sym_vars;
}

// A symbolic variable belongs to one function.
void CheckSharedSymVars(const Module& module, const std::vector<SymVars>& sym_vars, DiagnosticEngine& diagnostics) {
  constexpr int32_t kNone = -1;
  constexpr int32_t kReported = -2;
  std::vector<int32_t> owner;  // by variable id
  for (size_t i = 0; i < sym_vars.size(); ++i) {
    for (const tir::Var* var : sym_vars[i]) {
      if (var->id >= owner.size()) owner.resize(var->id + var->id / 2 + 64, kNone);
      int32_t& first = owner[var->id];
      if (first == kNone) first = static_cast<int32_t>(i);
      if (first == kReported || first == static_cast<int32_t>(i)) continue;
      const ModuleEntry& a = module.functions()[first];
      const ModuleEntry& b = module.functions()[i];
      diagnostics
          .Error(Location(*b.func), "shared-symbolic-variable",
                 fmt::format("functions '{}' and '{}' share the symbolic variable '{}'", a.var->name, b.var->name,
                             var->name))
          .Note(Location(*a.func), "the other function is here");
      first = kReported;
    }
  }
}

// A parameter and its function.
struct ParamUse {
  const Node* param;
  size_t function;
  friend bool operator<(const ParamUse& a, const ParamUse& b) {
    return a.param != b.param ? a.param < b.param : a.function < b.function;
  }
};

// Functions that share a parameter node share their body or parts of it: rewriting one would rewrite the other.
void CheckSharedParams(const Module& module, DiagnosticEngine& diagnostics) {
  std::vector<ParamUse> uses;
  for (size_t i = 0; i < module.size(); ++i) {
    const BaseFunc* func = module.functions()[i].func;
    if (const auto* f = As<Function>(func)) {
      for (const Var* param : f->params) uses.push_back({param, i});
    } else if (const auto* prim = As<PrimFunc>(func)) {
      for (const tir::Var* param : prim->params) uses.push_back({param, i});
    }
  }
  std::ranges::sort(uses, std::less<>{});
  std::vector<std::pair<size_t, size_t>> pairs;  // of functions: the one that repeats, and the first
  for (size_t i = 1, first = 0; i < uses.size(); ++i) {
    if (uses[i].param != uses[first].param) first = i;
    if (uses[i].function != uses[first].function) pairs.emplace_back(uses[i].function, uses[first].function);
  }
  // In the order of functions, not of addresses.
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  for (const auto& [b, a] : pairs) {
    diagnostics.Error(Location(*module.functions()[b].func), "shared-parameter",
                      fmt::format("functions '{}' and '{}' share a parameter", module.functions()[a].var->name,
                                  module.functions()[b].var->name));
  }
}

class RepeatedStmtFinder : public tir::StmtExprVisitor {
 public:
  const tir::Stmt* repeated = nullptr;

  void VisitStmt(const tir::Stmt* stmt) override {
    if (repeated) return;
    if (seen_.insert(stmt)) return StmtExprVisitor::VisitStmt(stmt);
    repeated = stmt;
  }

 protected:
  void VisitExpr(const PrimExpr*) override {}

 private:
  LookupSet<const tir::Stmt*> seen_;
};

}  // namespace

bool VerifyModule(const Module& module, const VerifyOptions& options, DiagnosticEngine& diagnostics) {
  const size_t errors = diagnostics.error_count();
  const bool parallel = options.threads > 1 && module.size() > 1;
  const std::vector<SymVars> sym_vars =
      parallel ? VerifyInParallel(module, options, diagnostics) : VerifyInOrder(module, options, diagnostics);
  if (module.size() > 1) {
    CheckSharedSymVars(module, sym_vars, diagnostics);
    CheckSharedParams(module, diagnostics);
  }
  return diagnostics.error_count() == errors;
}

bool VerifyFunction(const Module& module, size_t index, const VerifyOptions& options, DiagnosticEngine& diagnostics) {
  const size_t errors = diagnostics.error_count();
  FunctionVerifier(module, options, diagnostics).Verify(index);
  return diagnostics.error_count() == errors;
}

bool HasFreeVars(const Module& module) {
  for (const ModuleEntry& entry : module.functions()) {
    if (!Is<PrimFunc>(entry.func)) continue;
    DiagnosticBuffer errors;
    DiagnosticEngine engine(&errors, 0);
    TirVerifier(module, {.check_types = false, .allow_free_vars = false}, engine).Verify(entry);
    if (std::ranges::any_of(errors.diagnostics(),
                            [](const Diagnostic& d) { return d.kind == DiagId("undefined-variable").name(); })) {
      return true;
    }
  }
  return false;
}

const tir::Stmt* FindRepeatedStmt(const Module& module) {
  RepeatedStmtFinder finder;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* func = As<PrimFunc>(entry.func); func && func->body) finder.VisitStmt(func->body);
  }
  return finder.repeated;
}

}  // namespace iropt
