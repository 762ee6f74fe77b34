#include "cli/tool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>

#include "iropt/support/crash.h"
#include "iropt/support/file.h"

namespace iropt {

namespace {

// The command line as a shell takes it.
std::string CommandText(int argc, char** argv) {
  std::string text;
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool plain = !word.empty() && word.find_first_not_of(
                                            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                            "0123456789-_=./,:+@%") == std::string_view::npos;
    if (i > 0) text += ' ';
    if (!plain) text += '\'';
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    if (!plain) text += '\'';
  }
  return text;
}

}  // namespace

int ReportToolError(std::string_view name, const Error& error) {
  OutputStream err(STDERR_FILENO);
  err.Append(fmt::format("{}: error: {}\n", name, error.message));
  return ExitCode(error.code);
}

int ReportUsageError(std::string_view name, const Error& error) {
  const int code = ReportToolError(name, error);
  OutputStream(STDERR_FILENO).Append(fmt::format("{0}: note: run '{0} -help' for the flags\n", name));
  return code;
}

int PrintToStdout(std::string_view name, std::string_view text) {
  OutputStream out(STDOUT_FILENO);
  out.Append(text);
  const Status written = out.Flush();
  return written.ok() ? 0 : ReportToolError(name, written.error());
}

int RunTool(std::string_view name, int argc, char** argv, int (*run)(const std::vector<std::string>& arguments)) {
  // Writing to a closed pipe is then an error like others.
  std::signal(SIGPIPE, SIG_IGN);
  InstallCrashHandler(name, CommandText(argc, argv));
  // Made before: there may be no memory for it later.
  const Error no_memory{ErrorCode::Budget, "out of memory"};
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    return ReportToolError(name, no_memory);
  } catch (const std::exception& e) {
    OutputStream(STDERR_FILENO).Append(fmt::format("{}: internal error: {}\n", name, e.what()));
  }
  return ExitCode(ErrorCode::Internal);
}

}  // namespace iropt
