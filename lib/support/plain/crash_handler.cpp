// A plain system has no signals: the machine that runs the program reports crashes.
#include "iropt/support/crash.h"
#include "iropt/support/end_process.h"
#include "support/crash_report.h"

namespace iropt {

void InstallSignalHandlers() {}
void PrepareThreadForCrash() {}
void EndProcessAfter(unsigned, ErrorCode) {}

}  // namespace iropt
