#include "dependency_file.h"

#include <filesystem>

namespace iropt {

namespace {

// A backslash before a blank would be read as one that protects it, so those are doubled, as in GCC.
std::string Escape(std::string_view path) {
  std::string text;
  size_t backslashes = 0;
  for (const char c : path) {
    if (c == ' ' || c == '\t') text.append(backslashes + 1, '\\');
    if (c == '#') text += '\\';
    if (c == '$') text += '$';
    text += c;
    backslashes = c == '\\' ? backslashes + 1 : 0;
  }
  return text;
}

}  // namespace

std::string RenderDependencies(std::string_view target, std::span<const std::string> files) {
  std::string text = Escape(target) + ':';
  for (const std::string& file : files) text += " \\\n  " + Escape(file);
  return text + '\n';
}

std::string DependencyFileOf(const std::string& output) {
  return std::filesystem::path(output).replace_extension(".d").string();
}

}  // namespace iropt
