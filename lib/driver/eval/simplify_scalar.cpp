#include "driver/eval/simplify_scalar.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/location.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

namespace iropt {

namespace {

using arith::IntBound;
using arith::ModularSet;

// Facts that the analyzer knows about the value of an expression.
struct Facts {
  IntBound bound;
  ModularSet residues;
};

class ScalarSimplifier {
 public:
  ScalarSimplifier(CompilerInstance& compiler, TextVersion version) : compiler_(compiler), workspace_(version) {
    analyzer_.set_extensions({.prove_transitively = true});
  }
  ~ScalarSimplifier() {
    while (!constraints_.empty()) constraints_.pop_back();  // they nest
  }
  ScalarSimplifier(const ScalarSimplifier&) = delete;
  ScalarSimplifier& operator=(const ScalarSimplifier&) = delete;

  // Declarations first: an assumption may be about a variable that a later one declares.
  Status Assume(const std::vector<std::string>& texts) {
    std::vector<Text> conditions;
    for (const std::string& text : texts) {
      IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-assume", text));
      const std::optional<const tir::Var*> declared = ParseDeclaration(text, base, workspace_, compiler_.diagnostics());
      if (!declared) {
        conditions.push_back({text, base});
      } else if (!*declared) {
        return Failure{ErrorCode::Parse};
      } else {
        IROPT_RETURN_IF_ERROR(Declare(*declared));
      }
    }
    for (const Text& condition : conditions) IROPT_RETURN_IF_ERROR(AssumeCondition(condition));
    return {};
  }

  Result<const PrimExpr*> Simplify(const std::string& text) {
    IROPT_ASSIGN_OR_RETURN(const uint32_t base, compiler_.AddText("-eval", text));
    const PrimExpr* expr = Parse({text, base});
    if (!expr) return Failure{ErrorCode::Parse};
    const PrimExpr* simple = analyzer_.Simplify(expr);
    if (expr->dtype.is_int() && expr->dtype.is_scalar()) facts_ = FactsOf(expr, simple);
    return simple;
  }
  // About the last simplified expression; none if it is not an integer.
  const std::optional<Facts>& facts() const { return facts_; }

 private:
  struct Text {
    const std::string& text;
    uint32_t base;
  };

  Failure Fail(Span span, std::string message) {
    compiler_.diagnostics().Error(Location(span), "bad-expression", std::move(message));
    return Failure{ErrorCode::Parse};
  }

  const PrimExpr* Parse(const Text& text) {
    return ParseScalar(text.text, text.base, variables_, workspace_, compiler_.diagnostics());
  }

  Status Declare(const tir::Var* var) {
    for (const tir::Var* other : variables_) {
      if (other->name == var->name) return Fail(var->span(), fmt::format("'{}' is declared twice", var->name));
    }
    variables_.push_back(var);
    return {};
  }

  Status AssumeCondition(const Text& text) {
    const PrimExpr* condition = Parse(text);
    if (!condition) return Failure{ErrorCode::Parse};
    if (!condition->dtype.is_bool() || !condition->dtype.is_scalar()) {
      return Fail(condition->span(),
                  fmt::format("an assumption must be a condition, found '{}'", condition->dtype.ToString()));
    }
    if (arith::IsInt(analyzer_.Simplify(condition), 0))
      return Fail(condition->span(), "this does not hold for any values, or not together with the assumptions before");
    if (const auto* equal = As<tir::EQ>(condition)) {
      const auto* var = As<tir::Var>(equal->a);
      if (var && arith::AsInt(equal->b)) analyzer_.Bind(var, equal->b);
    }
    constraints_.push_back(std::make_unique<arith::Analyzer::Constraint>(analyzer_, condition));
    return {};
  }

  // Both forms have the same value, but more may be known about one of them.
  Facts FactsOf(const PrimExpr* expr, const PrimExpr* simple) {
    const ModularSet before = analyzer_.bounds().Modular(expr);
    const ModularSet after = analyzer_.bounds().Modular(simple);
    const bool first = before.coeff == 0 || (after.coeff != 0 && before.coeff > after.coeff);
    return {analyzer_.Bound(expr).Intersect(analyzer_.Bound(simple)), first ? before : after};
  }

  CompilerInstance& compiler_;
  Workspace workspace_;
  std::vector<const tir::Var*> variables_;
  arith::Analyzer analyzer_{arith::PrimBuilder(workspace_), arith::Analyzer::SymVars::kAny};
  std::vector<std::unique_ptr<arith::Analyzer::Constraint>> constraints_;
  std::optional<Facts> facts_;
};

// The ends that say more than the dtype does.
std::optional<int64_t> KnownMin(const Facts& facts, DataType dtype) {
  const bool known = facts.bound.min > IntBound::Everything(dtype).min;
  return known ? std::optional(facts.bound.min) : std::nullopt;
}
std::optional<int64_t> KnownMax(const Facts& facts, DataType dtype) {
  const bool known = facts.bound.max < IntBound::Everything(dtype).max;
  return known ? std::optional(facts.bound.max) : std::nullopt;
}
bool AreResiduesKnown(const Facts& facts) { return facts.residues.coeff > 1; }

// "T.int32, 0 <= value <= 14, value % 2 == 0"
std::string Comment(const PrimExpr* simple, const std::optional<Facts>& facts) {
  std::string text = "T." + simple->dtype.ToString();
  if (!facts || arith::AsInt(simple)) return text;
  const std::optional<int64_t> min = KnownMin(*facts, simple->dtype);
  const std::optional<int64_t> max = KnownMax(*facts, simple->dtype);
  if (min && max) text += fmt::format(", {} <= value <= {}", *min, *max);
  if (min && !max) text += fmt::format(", value >= {}", *min);
  if (max && !min) text += fmt::format(", value <= {}", *max);
  if (AreResiduesKnown(*facts))
    text += fmt::format(", value % {} == {}", facts->residues.coeff,
                        arith::FloorModInt(facts->residues.base, facts->residues.coeff));
  return text;
}

std::string ToJson(const PrimExpr* simple, const std::optional<Facts>& facts) {
  nlohmann::ordered_json json = {{"value", ScalarToString(simple)}, {"dtype", simple->dtype.ToString()}};
  if (facts) {
    if (const auto min = KnownMin(*facts, simple->dtype)) json["min"] = *min;
    if (const auto max = KnownMax(*facts, simple->dtype)) json["max"] = *max;
    if (AreResiduesKnown(*facts)) {
      json["modulus"] = facts->residues.coeff;
      json["remainder"] = arith::FloorModInt(facts->residues.base, facts->residues.coeff);
    }
  }
  return json.dump() + '\n';
}

}  // namespace

Result<std::string> SimplifyScalar(const EvalRequest& request, CompilerInstance& compiler) {
  IROPT_ASSIGN_OR_RETURN(const std::optional<TextVersion> version, compiler.named_version());
  ScalarSimplifier simplifier(compiler, version.value_or(TextVersion::kV0_18));
  IROPT_RETURN_IF_ERROR(simplifier.Assume(request.assumptions));
  IROPT_ASSIGN_OR_RETURN(const PrimExpr* simple, simplifier.Simplify(request.text));
  if (request.as_json) return ToJson(simple, simplifier.facts());
  return fmt::format("{}  # {}\n", ScalarToString(simple), Comment(simple, simplifier.facts()));
}

}  // namespace iropt
