// The examples of passes in docs/passes, compiled in.
#pragma once

#include <span>
#include <string_view>

namespace iropt {

struct PassExample {
  std::string_view pass;
  std::string_view text;  // of the file
};

// In the order of the names of their files.
std::span<const PassExample> PassExamples();

}  // namespace iropt
