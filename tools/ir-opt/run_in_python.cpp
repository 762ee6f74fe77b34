#include "ir-opt/run_in_python.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "cli/tool.h"
#include "ir-opt/run_command.h"
#include "iropt/support/result.h"

namespace iropt {

namespace {

// The folders that the package is in, from the folder of the program: of a build, and of an installation.
constexpr const char* kPackageFolders[] = {"../python", "../lib/python3/dist-packages"};

std::string SearchPath() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  std::string paths;
  for (const char* folder : kPackageFolders) {
    const std::filesystem::path path = (program / folder).lexically_normal();
    if (std::filesystem::exists(path / "iropt", error)) paths += path.string() + ":";
  }
  const char* inherited = std::getenv("PYTHONPATH");
  return inherited != nullptr ? paths + inherited : paths;
}

}  // namespace

bool HasPythonPlugin(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "load-pass-plugin";
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string_view argument = arguments[i];
    if (!argument.starts_with('-')) continue;
    argument.remove_prefix(argument.find_first_not_of('-') == std::string_view::npos ? argument.size()
                                                                                     : argument.find_first_not_of('-'));
    if (!argument.starts_with(kFlag)) continue;
    argument.remove_prefix(kFlag.size());
    if (argument.empty() && i + 1 < arguments.size()) argument = arguments[i + 1];
    if (argument.ends_with(".py")) return true;
  }
  return false;
}

int RunInPython(const std::vector<std::string>& arguments) {
  const char* chosen = std::getenv("IROPT_PYTHON");
  std::vector<std::string> words = {chosen != nullptr ? chosen : "python3", "-m", "iropt.opt"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> raw;
  for (std::string& word : words) raw.push_back(word.data());
  raw.push_back(nullptr);
  setenv("PYTHONPATH", SearchPath().c_str(), 1);
  execvp(raw[0], raw.data());
  return ReportToolError(
      kIrOpt, {ErrorCode::Usage, fmt::format("plugins in Python need an interpreter: cannot run '{}': {}", words[0],
                                             std::strerror(errno))});
}

}  // namespace iropt
