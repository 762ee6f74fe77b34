#include "lambda_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <unordered_set>
#include <vector>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// A local function and its path: the name of the function of the module, then those of the variables that the enclosing
// functions are bound to, its own last.
struct Lambda {
  const Function* function;
  std::vector<std::string_view> path;
};

class LambdaFinder : public ExprVisitor {
 public:
  explicit LambdaFinder(const Module& module) {
    for (const ModuleEntry& entry : module.functions()) {
      if (!Is<Function>(entry.func)) continue;
      path_.assign(1, entry.var->name);
      VisitExpr(entry.func);
    }
  }

  const std::vector<Lambda>& found() const { return found_; }

 protected:
  void VisitVarBinding(const VarBinding* binding) override {
    const auto* function = As<Function>(binding->value);
    if (!function) return ExprVisitor::VisitVarBinding(binding);
    path_.push_back(binding->var->name());
    found_.push_back({function, path_});
    ExprVisitor::VisitVarBinding(binding);
    path_.pop_back();
  }

 private:
  std::vector<std::string_view> path_;
  std::vector<Lambda> found_;
};

class Namer {
 public:
  Namer(const Module& module, const std::vector<Lambda>& lambdas) : lambdas_(lambdas) {
    for (const ModuleEntry& entry : module.functions()) taken_.emplace(entry.var->name);
  }

  bool GiveGlobalSymbols(DiagnosticEngine& diagnostics) {
    bool ok = true;
    for (const Lambda& lambda : lambdas_) {
      const std::string_view symbol = lambda.function->StringAttr(attr::kGlobalSymbol);
      if (symbol.empty() || Take(lambda, std::string(symbol))) continue;
      ok = false;
      diagnostics.Error(Location(*lambda.function), "pass-failed",
                        fmt::format("cannot lift the local function '{}': its global symbol '{}' is the name of "
                                    "another function",
                                    lambda.path.back(), symbol));
    }
    return ok;
  }

  // Gives functions without a name the one that `propose` makes of the path, unless several would have it.
  template <class Propose>
  void GiveUnique(Propose&& propose) {
    LookupMap<std::string, int> count;
    for (const Lambda& lambda : lambdas_) {
      if (!names_.contains(lambda.function)) ++count[propose(lambda.path)];
    }
    for (const Lambda& lambda : lambdas_) {
      if (names_.contains(lambda.function)) continue;
      std::string name = propose(lambda.path);
      if (!name.empty() && count[name] == 1) Take(lambda, std::move(name));
    }
  }

  void GiveNumbered() {
    LookupMap<std::string, int> used;
    for (const Lambda& lambda : lambdas_) {
      if (names_.contains(lambda.function)) continue;
      const std::string name = fmt::format("{}_{}", lambda.path.front(), lambda.path.back());
      int& number = used[name];
      while (!Take(lambda, fmt::format("{}_{}", name, number++))) {
      }
    }
  }

  LambdaNames Finish() && { return std::move(names_); }

 private:
  bool Take(const Lambda& lambda, std::string name) {
    const GlobalVar* var = GlobalVar::Get(name);
    if (!taken_.insert(std::move(name)).second) return false;
    names_.emplace(lambda.function, var);
    return true;
  }

  const std::vector<Lambda>& lambdas_;
  std::unordered_set<std::string> taken_;
  LambdaNames names_;
};

}  // namespace

std::optional<LambdaNames> NameLambdas(const Module& module, DiagnosticEngine& diagnostics) {
  using Path = std::vector<std::string_view>;
  const LambdaFinder finder(module);
  Namer namer(module, finder.found());
  if (!namer.GiveGlobalSymbols(diagnostics)) return std::nullopt;
  namer.GiveUnique([](const Path& path) { return fmt::format("{}_{}", path.front(), path.back()); });
  namer.GiveUnique([](const Path& path) {
    return path.size() == 2 ? std::string() : fmt::format("{}", fmt::join(path.begin() + 1, path.end(), "_"));
  });
  namer.GiveNumbered();
  return std::move(namer).Finish();
}

}  // namespace iropt
