#include "arguments.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/ir/location.h"
#include "iropt/support/edit_distance.h"

namespace iropt::text {

std::string_view KindName(PyValue::Kind kind) {
  static constexpr std::string_view kNames[] = {
      "None",    "a truth value", "an integer",  "a float",        "a string", "a function", "an expression",
      "a type",  "an attribute",  "a data type", "a pointer type", "a buffer", "a region",   "an iteration variable",
      "a range", "a reducer",     "a list",      "a tuple",        "a list"};
  static_assert(std::size(kNames) == static_cast<size_t>(PyValue::Kind::kTvmArray) + 1);
  return kNames[static_cast<size_t>(kind)];
}

std::string Counted(size_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

bool BindArguments(const PyArgs& args, std::string_view what, std::span<const std::string_view> names, size_t required,
                   std::span<const PyValue*> out, DiagnosticEngine& diagnostics) {
  const auto fail = [&](Span span, DiagId kind, std::string message) {
    diagnostics.Error(Location(span), kind, std::move(message));
    return false;
  };
  std::fill(out.begin(), out.end(), nullptr);
  if (args.positional.size() > names.size()) {
    return fail(args.positional[names.size()].span, "too-many-arguments",
                fmt::format("{} takes at most {}", what, Counted(names.size(), "argument", "arguments")));
  }
  for (size_t i = 0; i < args.positional.size(); ++i) out[i] = &args.positional[i];
  for (const PyKeyword& k : args.keywords) {
    const size_t i = static_cast<size_t>(std::find(names.begin(), names.end(), k.name) - names.begin());
    if (i == names.size()) {
      return fail(k.span, "unknown-argument",
                  fmt::format("{} has no argument '{}'{}", what, k.name, DidYouMean(k.name, names)));
    }
    if (out[i])
      return fail(k.span, "repeated-argument", fmt::format("the argument '{}' of {} is given twice", k.name, what));
    out[i] = &k.value;
  }
  for (size_t i = 0; i < required; ++i) {
    if (!out[i])
      return fail(args.span, "missing-argument", fmt::format("missing argument '{}' in call to {}", names[i], what));
  }
  return true;
}

bool CountArguments(const PyArgs& args, std::string_view what, size_t least, size_t most,
                    DiagnosticEngine& diagnostics) {
  const size_t n = args.positional.size();
  if (n >= least && n <= most) return true;
  const Span span = n < least ? args.span : args.positional[most].span;
  diagnostics.Error(
      Location(span), n < least ? DiagId("missing-argument") : DiagId("too-many-arguments"),
      fmt::format("{} takes {}, found {}", what, Counted(n < least ? least : most, "argument", "arguments"), n));
  return false;
}

void ReportWrongValue(const PyValue& value, std::string_view expected, DiagnosticEngine& diagnostics) {
  diagnostics.Error(Location(value.span), "bad-expression",
                    fmt::format("expected {}, found {}", expected, KindName(value.kind)));
}

}  // namespace iropt::text
