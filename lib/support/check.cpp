#include "iropt/support/check.h"

#include <fmt/args.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <string>

#include "iropt/support/check_failure.h"
#include "iropt/support/crash.h"
#include "iropt/support/result.h"

namespace iropt {

namespace {

std::atomic<bool> ends_process = false;

void PushArg(fmt::dynamic_format_arg_store<fmt::format_context>& store, const CheckArg& arg) {
  switch (arg.kind()) {
    case CheckArg::Kind::Signed: return store.push_back(arg.signed_value());
    case CheckArg::Kind::Unsigned: return store.push_back(arg.unsigned_value());
    case CheckArg::Kind::Float: return store.push_back(arg.float_value());
    case CheckArg::Kind::Text: return store.push_back(arg.text());
    case CheckArg::Kind::Pointer: return store.push_back(arg.pointer());
    case CheckArg::Kind::Bool: return store.push_back(arg.unsigned_value() != 0);
    case CheckArg::Kind::Char: return store.push_back(static_cast<char>(arg.signed_value()));
  }
}

std::string FormatMessage(std::string_view format, std::span<const CheckArg> args) {
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  for (const CheckArg& arg : args) PushArg(store, arg);
  try {
    return fmt::vformat(format, store);
  } catch (const fmt::format_error&) {
    return std::string(format);  // the report of a bug must not be lost to a bug in the report
  }
}

}  // namespace

void EndProcessOnCheckFailure() { ends_process = true; }

void InternalError(const char* file, int line, const char* what, std::string_view format,
                   std::span<const CheckArg> args) {
  std::string text = fmt::format("internal error: {}:{}: {}", file, line, what);
  if (!format.empty()) text += ": " + FormatMessage(format, args);
  if (!ends_process) throw CheckFailure(text);
  std::fflush(nullptr);
  PrintInternalError(text);
  PrintCrashNotes();
  RemoveUnfinishedFiles();
  _exit(ExitCode(ErrorCode::Internal));
}

}  // namespace iropt
