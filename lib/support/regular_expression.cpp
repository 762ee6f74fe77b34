#include "iropt/support/regular_expression.h"

#include <fmt/format.h>
#include <regex.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace iropt {

namespace {

// regcomp(3) recurses into groups, and copies what is counted.
constexpr size_t kLongest = 1000;
constexpr uint64_t kMostRepetitions = 1000;

// The larger bound of the counts that begin after '{', at least 1.
uint64_t LargestCount(std::string_view text) {
  uint64_t largest = 1;
  for (;;) {
    uint64_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc::result_out_of_range) return kMostRepetitions + 1;
    if (error == std::errc()) largest = std::max(largest, count);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (!text.starts_with(',')) return largest;
    text.remove_prefix(1);
  }
}

// The reason why the expression is refused before it is compiled; empty if it is not.
std::string Excess(std::string_view text) {
  if (text.size() > kLongest) return fmt::format("it has more than {} characters", kLongest);
  uint64_t repetitions = 1;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      const char next = ++i < text.size() ? text[i] : '\0';
      if (next >= '1' && next <= '9') return fmt::format("it refers back to a group by '\\{}'", next);
    } else if (text[i] == '{') {
      // As if all counts were nested.
      repetitions *= LargestCount(text.substr(i + 1));
      if (repetitions > kMostRepetitions) return fmt::format("its counts are more than {} together", kMostRepetitions);
    }
  }
  return {};
}

Error Refused(std::string reason) { return {ErrorCode::Usage, std::move(reason)}; }

}  // namespace

struct RegularExpression::Compiled {
  explicit Compiled(const std::string& text) : error(regcomp(&expression, text.c_str(), REG_EXTENDED | REG_NOSUB)) {}
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (error == 0) regfree(&expression);
  }

  regex_t expression = {};
  int error;
};

Result<RegularExpression> RegularExpression::Make(const std::string& text) {
  if (std::string reason = Excess(text); !reason.empty()) return Refused(std::move(reason));
  auto compiled = std::make_shared<const Compiled>(text);
  if (compiled->error == 0) return RegularExpression(std::move(compiled));
  std::string message(regerror(compiled->error, &compiled->expression, nullptr, 0), '\0');
  regerror(compiled->error, &compiled->expression, message.data(), message.size());
  message.pop_back();  // the final 0
  return Refused(std::move(message));
}

bool RegularExpression::Matches(const std::string& text) const {
  return regexec(&compiled_->expression, text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace iropt
