// The option `keep` of passes that quantize.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/pass/pass_options.h"
#include "iropt/support/regular_expression.h"

namespace iropt {

// Names that match one of some regular expressions.
class KeptNames {
 public:
  KeptNames() = default;
  // Refuses an expression that is malformed.
  KeptNames(const PassOptions& options, const TypedOption<std::vector<std::string>>& given) {
    for (const std::string& text : *given) {
      Result<RegularExpression> expression = RegularExpression::Make(text);
      if (expression.ok())
        expressions_.push_back(*std::move(expression));
      else
        options.Refuse(given, fmt::format("has an invalid expression: {}", expression.error().message));
    }
  }

  bool Contain(std::string_view name) const {
    return std::ranges::any_of(expressions_, [&](const RegularExpression& e) { return e.Matches(std::string(name)); });
  }

 private:
  std::vector<RegularExpression> expressions_;
};

}  // namespace iropt
