// Functions that run a tool and end its program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "iropt/driver/compiler_options.h"
#include "iropt/support/result.h"

namespace iropt {

// Runs a tool on the arguments that follow its name: catches what it throws, tells of crashes, and gives its exit code.
int RunTool(std::string_view name, int argc, char** argv, int (*run)(const std::vector<std::string>& arguments));

// The format of the messages below and of those of RunTool; text by default.
void SetMessageFormat(DiagnosticFormat format);

// "NAME: error: message" on stderr, in the format; the exit code of the error.
int ReportToolError(std::string_view name, const Error& error);
// Reports an error of the command line, with the advice to ask for help; the exit code of the error.
int ReportUsageError(std::string_view name, const Error& error);
// Writes a text to stdout, or tells why it cannot be written.
int PrintToStdout(std::string_view name, std::string_view text);

}  // namespace iropt
