// POSIX extended regular expressions of users, in time that no expression makes exponential.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "iropt/support/result.h"

namespace iropt {

class RegularExpression {
 public:
  // Fails with the reason if `text` is malformed, has more than 1000 characters, refers back to a group (\1), or
  // repeats more than 1000 times by nested counts ({n}).
  static Result<RegularExpression> Make(const std::string& text);

  // Returns whether a part of the text matches. O(|text|^2) at most, for an expression of bounded size.
  bool Matches(const std::string& text) const;

 private:
  struct Compiled;
  explicit RegularExpression(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}

  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace iropt
