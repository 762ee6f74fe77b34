// Extensions of file names, which have no case: "model.ONNX" is one of ONNX.
#pragma once

#include <algorithm>
#include <string_view>

namespace iropt {

// Returns whether a path ends with an extension, which is given in lower case and with its dot.
inline bool HasExtension(std::string_view path, std::string_view extension) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return path.size() >= extension.size() &&
         std::ranges::equal(path.substr(path.size() - extension.size()), extension, {}, lower);
}

}  // namespace iropt
