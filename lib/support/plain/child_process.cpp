// A plain system has no processes.
#include "iropt/support/child_process.h"

#include <utility>

namespace iropt {

namespace {

Error NoProcesses() { return {ErrorCode::Usage, "processes cannot be started in this build"}; }

}  // namespace

Result<ChildProcess> ChildProcess::Start(FunctionRef<void(OutputStream&)>, int64_t) { return NoProcesses(); }

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : process_(other.process_), descriptor_(other.descriptor_), text_(std::move(other.text_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  text_ = std::move(other.text_);
  return *this;
}

ChildProcess::~ChildProcess() = default;

bool ChildProcess::Read() { return false; }

ChildReport ChildProcess::Finish() { return {}; }

Result<ChildReport> RunInChild(FunctionRef<void(OutputStream&)>) { return NoProcesses(); }

Result<int> RunShellCommand(const std::string&) { return NoProcesses(); }

}  // namespace iropt
