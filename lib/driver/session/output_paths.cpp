#include "driver/session/output_paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "iropt/exchange/formats.h"
#include "iropt/support/file.h"

namespace iropt {

namespace {

bool IsFolder(const std::string& output) { return output.ends_with('/'); }

// A device such as /dev/null takes all modules.
bool IsDevice(const std::string& output) {
  std::error_code error;
  return output != "/dev/stdout" && std::filesystem::is_character_file(output, error);
}

// The name of the input, with the extension of another format if one is asked for.
std::string NameInFolder(const std::string& input, const std::string& emit) {
  std::filesystem::path name = std::filesystem::path(input).filename();
  const Result<const FormatRow*> format = FindOutputFormat(emit);
  if (format.ok() && *format != &Formats().front()) name.replace_extension((*format)->extensions.front());
  return name.string();
}

}  // namespace

bool WritesModules(const DriverOptions& options) {
  return !options.verify_only && !options.bisect && !options.precision.lints &&
         options.print_pipeline == ShownForm::None;
}

Result<std::vector<InputOutput>> PairInputs(const DriverOptions& options) {
  std::vector<InputOutput> pairs{{options.input, options.output.path}};
  for (const std::string& input : options.more_inputs) pairs.push_back({input, options.output.path});
  bool reads_stdin = false;
  for (const InputOutput& pair : pairs) {
    if (pair.input == "-" && std::exchange(reads_stdin, true))
      return Error{ErrorCode::Usage, "the standard input is named twice"};
  }
  if (!WritesModules(options)) return pairs;
  if (!IsFolder(options.output.path)) {
    if (pairs.size() == 1 || IsDevice(options.output.path)) return pairs;
    return Error{ErrorCode::Usage,
                 fmt::format("the modules of {} inputs cannot go to {}: expected a folder, as in -o DIR/", pairs.size(),
                             options.output.path == "-" ? "the standard output" : '\'' + options.output.path + '\'')};
  }
  std::map<std::string, std::string> inputs;  // by their names in the folder
  for (InputOutput& pair : pairs) {
    if (IsStandardStream(pair.input)) {
      return Error{ErrorCode::Usage,
                   fmt::format("the standard input has no name for a file in the folder '{}'", options.output.path)};
    }
    const std::string name = NameInFolder(pair.input, options.output.emit);
    const auto [other, is_new] = inputs.emplace(name, pair.input);
    pair.output = (std::filesystem::path(options.output.path) / name).string();
    if (is_new) continue;
    return Error{ErrorCode::Usage,
                 fmt::format("'{}' and '{}' would both be written to '{}'", other->second, pair.input, pair.output)};
  }
  return pairs;
}

}  // namespace iropt
