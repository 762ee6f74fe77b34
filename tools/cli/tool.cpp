#include "cli/tool.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include "cli/arguments.h"
#include "iropt/diag/consumers.h"
#include "iropt/support/crash.h"
#include "iropt/support/end_process.h"
#include "iropt/support/file.h"
#include "iropt/support/shell.h"

namespace iropt {

namespace {

// The command line as a shell takes it.
std::string CommandText(int argc, char** argv) {
  const char* defaults = std::getenv(kFlagsVariable);
  std::string text;
  if (defaults != nullptr && *defaults != '\0') text = fmt::format("{}={} ", kFlagsVariable, ShellWord(defaults));
  return text + ShellWords(std::vector<std::string>(argv, argv + argc));
}

constexpr std::string_view kInternalError = DiagId("internal-error").name();

DiagnosticFormat message_format = DiagnosticFormat::Text;

void PrintMessage(std::string_view name, const Diagnostic& diagnostic) {
  OutputStream err(STDERR_FILENO);
  const SourceManager sources;
  switch (message_format) {
    case DiagnosticFormat::Json: return JsonConsumer(&err, &sources).Consume(diagnostic);
    case DiagnosticFormat::Sarif: return SarifConsumer(&err, &sources).Consume(diagnostic);
    case DiagnosticFormat::Text: break;
  }
  const std::string_view severity = diagnostic.kind == kInternalError ? "internal error" : "error";
  err.Append(fmt::format("{}: {}: {}\n", name, severity, diagnostic.message));
  for (const DiagnosticNote& note : diagnostic.notes) err.Append(fmt::format("{}: note: {}\n", name, note.message));
}

// True once the tool has returned: nothing else may end the process as if all were well.
bool has_returned = false;

// Runs on the thread that calls exit(3), with its notes.
void CheckHasReturned() {
  if (has_returned) return;
  PrintInternalError("internal error: exit() was called before the tool was done");
  PrintCrashNotes();
  EndProcess(ErrorCode::Internal);
}

Diagnostic DiagnosticOf(const Error& error) {
  return {.kind = (error.code == ErrorCode::Budget ? DiagId("budget") : DiagId("usage")).name(),
          .span = {},
          .message = error.message,
          .notes = {},
          .fix_its = {}};
}

}  // namespace

void SetMessageFormat(DiagnosticFormat format) {
  message_format = format;
  PrintCrashesAsJson(format == DiagnosticFormat::Json);
}

int ReportToolError(std::string_view name, const Error& error) {
  PrintMessage(name, DiagnosticOf(error));
  return ExitCode(error.code);
}

int ReportUsageError(std::string_view name, const Error& error) {
  Diagnostic diagnostic = DiagnosticOf(error);
  diagnostic.notes.push_back({{}, fmt::format("run '{} -help' for the flags", name)});
  PrintMessage(name, diagnostic);
  return ExitCode(error.code);
}

int PrintToStdout(std::string_view name, std::string_view text) {
  OutputStream out(STDOUT_FILENO);
  out.Append(text);
  const Status written = out.Flush();
  return written.ok() ? 0 : ReportToolError(name, written.error());
}

namespace {

int RunAndReport(std::string_view name, int argc, char** argv, int (*run)(const std::vector<std::string>& arguments)) {
  // Made before: there may be no memory for it later.
  const Error no_memory{ErrorCode::Budget, "out of memory"};
  try {
    return run(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    return ReportToolError(name, no_memory);
  } catch (const std::exception& e) {
    Diagnostic diagnostic = DiagnosticOf({ErrorCode::Internal, e.what()});
    diagnostic.kind = kInternalError;
    PrintMessage(name, diagnostic);
  }
  return ExitCode(ErrorCode::Internal);
}

}  // namespace

int RunTool(std::string_view name, int argc, char** argv, int (*run)(const std::vector<std::string>& arguments)) {
  // Writing to a closed pipe is then an error like others.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // and so is a file beyond the limit of the system
  InstallCrashHandler(name, CommandText(argc, argv));
  std::atexit(CheckHasReturned);
  const int code = RunAndReport(name, argc, argv, run);
  has_returned = true;
  return code;
}

}  // namespace iropt
