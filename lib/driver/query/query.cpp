// Finding what matches.
#include "iropt/driver/query.h"

#include <fmt/format.h>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/support/lookup.h"
#include "query_parser.h"

namespace iropt {

namespace {

// The values of all variables of a function.
class FunctionDefinitions : public Definitions, public ExprVisitor {
 public:
  const Expr* ValueOf(const Var* var) const override { return values_.Lookup(var); }

  const std::vector<const VarBinding*>& bindings() const { return bindings_; }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    ExprVisitor::VisitVarBinding(binding);
    values_.try_emplace(binding->var, binding->value);
    bindings_.push_back(binding);
  }

 private:
  LookupMap<const Var*, const Expr*> values_;
  std::vector<const VarBinding*> bindings_;
};

std::string NameOf(const Expr* expr) {
  if (const auto* var = As<Var>(expr)) return std::string(var->name());
  if (Is<Constant>(expr)) return "a constant";
  if (Is<Tuple>(expr)) return "a tuple";
  return "an expression";
}

}  // namespace

std::optional<Query> Query::Parse(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics) {
  QueryParser parser(text, base, diagnostics);
  std::optional<Pattern> pattern = parser.Parse();
  if (!pattern) return std::nullopt;
  return Query(*std::move(pattern), parser.names());
}

std::vector<QueryMatch> Query::FindIn(const Module& module) const {
  std::vector<QueryMatch> found;
  for (const ModuleEntry& entry : module.functions()) {
    const auto* function = As<Function>(entry.func);
    if (!function || !function->body) continue;
    FunctionDefinitions definitions;
    definitions.VisitExpr(function);
    Match match(definitions);
    for (const VarBinding* binding : definitions.bindings()) {
      // An alias is not another match.
      if (Is<Var>(binding->value) || !match.Try(pattern_, binding->value)) continue;
      const SourceSpan span = Location(*binding->value);
      found.push_back({entry.var->name, binding->var->name(), span.known() ? span : Location(*binding)});
      QueryMatch& here = found.back();
      for (const auto& [name, part] : names_) {
        if (const Expr* operand = match[part]) here.operands.emplace_back(name, NameOf(operand));
      }
    }
  }
  return found;
}

}  // namespace iropt
