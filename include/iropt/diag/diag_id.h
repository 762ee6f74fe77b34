// The ids of the kinds of diagnostics, which the compiler checks.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

namespace iropt {

namespace diag_detail {

inline constexpr std::string_view kIds[] = {
#define IROPT_DIAGNOSTIC_KIND(id, severity, meaning) id,
#include "iropt/diag/kinds.def"
};

// By binary search: the rows of kinds.def are in alphabetical order.
constexpr bool IsDeclared(std::string_view id) {
  size_t begin = 0;
  size_t end = std::size(kIds);
  while (begin < end) {
    const size_t middle = (begin + end) / 2;
    if (kIds[middle] == id) return true;
    kIds[middle] < id ? begin = middle + 1 : end = middle;
  }
  return false;
}

}  // namespace diag_detail

// The id of a kind of diagnostics. A literal that is not the id of a row of kinds.def does not compile.
class DiagId {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): a literal in a call is an id
  consteval DiagId(const char* id) : name_(id) {
    if (!diag_detail::IsDeclared(name_)) throw "kinds.def has no row with this id";
  }
  // An id that is known at run time only: of a kind that was added by AddDiagnosticKind, or of another diagnostic. The
  // text must outlive the diagnostics. A kind that was not added is reported as "undeclared-kind".
  static constexpr DiagId Dynamic(std::string_view id) {
    DiagId dynamic;
    dynamic.name_ = id;
    return dynamic;
  }

  constexpr std::string_view name() const { return name_; }

 private:
  constexpr DiagId() = default;

  std::string_view name_;
};

}  // namespace iropt
