// One call of compiled code: its memory, its error, and the runtime functions that the code calls.
#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "backend.h"
#include "iropt/codegen/loop_compiler.h"

namespace iropt::codegen {

// State that the threads of a call share.
struct CallLimits {
  const LoopCallOptions& options;
  int threads;
  std::atomic<uint64_t> bytes = 0;       // allocated at present
  std::atomic<uint64_t> iterations = 0;  // of while loops
};

// The state of one thread of a call. Compiled code receives a pointer to it.
class CallState : public LoopContext {
 public:
  CallState(CallLimits& limits, const void* const* constants) : limits_(limits) { this->constants = constants; }
  CallState(const CallState&) = delete;
  CallState& operator=(const CallState&) = delete;
  ~CallState() { Release(0); }

  void Fail(ErrorCode code, std::string message);
  const std::optional<Error>& error() const { return error_; }

  void* Allocate(int64_t count, int64_t element_bytes);
  int64_t mark() const { return std::ssize(allocations_); }
  void Release(int64_t mark);
  int32_t RunParallel(LoopTask task, void* frame, int64_t extent, int64_t grain);
  int32_t CallPacked(const char* name, std::span<const LoopArg> args, LoopArg* result);
  int32_t Nest(int32_t by);
  int32_t Iterate(int64_t iterations);

 private:
  struct Allocation {
    void* memory;
    uint64_t bytes;
  };
  CallLimits& limits_;
  std::vector<Allocation> allocations_;
  std::optional<Error> error_;
  int depth_ = 0;
};

// The runtime functions for compiled code, whose contexts are CallStates.
const LoopRuntime& RuntimeFunctions();

}  // namespace iropt::codegen
