// Prints a module of those that passes_on_random_modules generates:
//
//   random_module SEED INDEX [SIZE]
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string_view>
#include <vector>

#include "random_module.h"

namespace {

constexpr int kDefaultSize = 20;

bool ParseNumber(std::string_view text, uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<uint64_t> numbers(static_cast<size_t>(argc) - 1);
  bool ok = argc == 3 || argc == 4;
  for (size_t i = 0; ok && i < numbers.size(); ++i) ok = ParseNumber(argv[i + 1], numbers[i]);
  if (!ok) {
    fmt::print(stderr, "usage: random_module SEED INDEX [SIZE]\n");
    return 1;
  }
  const int size = numbers.size() == 3 ? static_cast<int>(numbers[2]) : kDefaultSize;
  fmt::print("{}", iropt::generate::RandomModule(numbers[0], numbers[1], size));
  return 0;
}
