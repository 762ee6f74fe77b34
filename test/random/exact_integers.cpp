// Compares what the library computes and proves about random scalar expressions of integers with their exact values:
//
//   exact_integers [FIRST] COUNT
//
// Simplification, folding, bounds, residue classes, sets, proofs and the interpreter on expressions of all integer
// dtypes; iterator maps on indices. Of any four numbers, three are expressions and one is an iterator map. Index
// arithmetic, of int32 and int64, is assumed not to overflow: values for which a sum, difference, product or quotient
// of these dtypes does are left out. All other dtypes wrap around.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "iropt/ir/context.h"
#include "scalar_checks.h"

namespace {

constexpr int kMostReported = 20;

bool ReadNumber(std::string_view text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t first = 0;
  uint64_t count = 0;
  const bool is_valid =
      argc == 2 ? ReadNumber(argv[1], count) : argc == 3 && ReadNumber(argv[1], first) && ReadNumber(argv[2], count);
  if (!is_valid) {
    fmt::print(stderr, "usage: exact_integers [FIRST] COUNT\n");
    return 2;
  }
  int reported = 0;
  for (uint64_t i = first; i < first + count && reported < kMostReported; ++i) {
    iropt::IRContext context;
    const iropt::IRContext::Scope scope(context);
    const std::string failure = i % 4 == 3 ? iropt::generate::CheckIterMap(i) : iropt::generate::CheckScalar(i);
    if (failure.empty()) continue;
    fmt::print("{}: {}\n", i, failure);
    ++reported;
  }
  if (reported == 0) fmt::print("{} expressions are right\n", count);
  return reported == 0 ? 0 : 1;
}
