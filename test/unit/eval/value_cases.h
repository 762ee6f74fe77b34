// Reading the calls with values in the cases of the type rules.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "eval_test_util.h"
#include "infer/type_cases.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/text/script/parser.h"

namespace iropt {

// A case that was read; it owns its call and values.
class ValueCase {
 public:
  explicit ValueCase(const TypeCase& c) : text_(ModuleText(c)) {
    DiagnosticEngine engine(&diagnostics_);
    module_ = ParseModule(text_, 1, {}, engine);
  }

  // Null if the call is refused.
  const Call* call() const { return As<Call>(ValueOf("result")); }
  // A constant, or a tuple of constants.
  const Expr* expected() const { return ValueOf("expected"); }
  std::string messages() const {
    std::string all;
    for (const Diagnostic& d : diagnostics_.diagnostics()) all += d.message + "\n";
    return all;
  }

 private:
  const Expr* ValueOf(std::string_view name) const {
    if (!module_) return nullptr;
    const auto* main = As<Function>(module_->Find("main")->func);
    for (const BindingBlock* block : As<SeqExpr>(main->body)->blocks) {
      for (const Binding* binding : block->bindings) {
        const auto* bound = As<VarBinding>(binding);
        if (bound && bound->var->name() == name) return bound->value;
      }
    }
    return nullptr;
  }

  std::string text_;
  DiagnosticBuffer diagnostics_;
  std::optional<Module> module_;
};

}  // namespace iropt
