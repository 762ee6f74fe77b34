// Ending the process from a thread while others still run.
#pragma once

#include <string_view>

#include "iropt/support/result.h"

namespace iropt {

// An error or a note of the program to the standard error output, past the streams of the other threads.
void PrintProcessError(std::string_view kind, std::string_view message);
void PrintProcessNote(std::string_view message);

// Writes the file of WriteFileOnCrash, removes unfinished output files and ends the process.
[[noreturn]] void EndProcess(ErrorCode code);
// Does so after a time if the process has not ended until then.
void EndProcessAfter(unsigned seconds, ErrorCode code);

}  // namespace iropt
