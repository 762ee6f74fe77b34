// Printing of modules by flags that show the effect of passes.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "iropt/observe/module_console.h"
#include "iropt/observe/pass_counter.h"
#include "iropt/support/regular_expression.h"

namespace iropt {

// The functions that are printed; all of them by default.
class FunctionFilter {
 public:
  FunctionFilter() = default;
  // Functions whose name contains a match of the regular expression. Fails as RegularExpression::Make.
  static Result<FunctionFilter> Make(const std::string& pattern);

  bool Matches(std::string_view name) const;
  // Remembers whether it matches a function of this module.
  void Observe(const Module& module);
  // Returns whether modules were observed, and functions in none of them match.
  bool matches_nothing() const { return pattern_ && observed_ && !matched_; }
  // The module with the matching functions alone.
  Module Select(const Module& module) const;

 private:
  std::optional<RegularExpression> pattern_;
  bool observed_ = false;
  bool matched_ = false;
};

// The module with only the functions of these names; names that it does not have are skipped.
Module SelectFunctions(const Module& module, std::span<const std::string> names);

// Prints to stderr under a heading that names the run of the pass, the functions and the chunk of the input.
class IrPrinter {
 public:
  // `console` must outlive it.
  IrPrinter(ModuleConsole& console, FunctionFilter filter, std::shared_ptr<const PassCounter> counter)
      : console_(console), filter_(std::move(filter)), counter_(std::move(counter)) {}

  const FunctionFilter& filter() const { return filter_; }
  // The functions that the filter selects. Prints nothing if there are none in a module that has functions.
  Status Print(const Module& module, const std::string& heading) const;
  // Only the functions of these names, which the heading names.
  Status PrintFunctions(const Module& module, const std::string& heading, std::span<const std::string> names) const;
  // The heading alone.
  Status PrintHeading(const std::string& heading, std::string_view result) const;
  // A text under a heading that names the functions.
  Status PrintText(const std::string& heading, std::span<const std::string> names, std::string_view text) const;

 private:
  std::string Details(std::span<const std::string> names) const;

  ModuleConsole& console_;
  FunctionFilter filter_;
  std::shared_ptr<const PassCounter> counter_;
};

}  // namespace iropt
