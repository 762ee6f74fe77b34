// The files that flags and instruments name for output.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/support/result.h"

namespace iropt {

// Sees to it that no two of them are the same file, and that none replaces the input. Links are followed; devices such
// as /dev/null may be named several times.
class OutputFiles {
 public:
  // The module may be written to the file that it was read from. "-" stands for the standard input and output.
  OutputFiles(const std::string& input, const std::string& output);

  // `owner` is that of the path in messages: "-time-trace". Fails with ErrorCode::Usage if the file has another one.
  Status Claim(std::string_view owner, const std::string& path);

 private:
  struct Claimed {
    std::string owner;
    std::string file;
  };

  static std::optional<std::string> FileOf(const std::string& path);

  std::vector<Claimed> claimed_;
};

}  // namespace iropt
