#include "call_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "iropt/ir/element.h"
#include "iropt/support/parallel.h"

namespace iropt::codegen {

namespace {

// The maximum length of a vector register in bytes, on all processors.
constexpr uint64_t kAlignment = 64;
constexpr int kMaxDepth = 1000;
// The number of chunks of a parallel loop per thread. More than one allows load balancing.
constexpr int64_t kPartsPerThread = 16;

std::string WithNumbers(std::string_view format, std::span<const int64_t> numbers) {
  std::string text;
  for (const int64_t number : numbers) {
    const size_t at = format.find("{}");
    if (at == std::string_view::npos) break;
    text += fmt::format("{}{}", format.substr(0, at), number);
    format.remove_prefix(at + 2);
  }
  return text + std::string(format);
}

// The error of the lowest part, whatever the order in which parts failed.
class FirstError {
 public:
  void Record(int64_t part, Error error) {
    const std::scoped_lock lock(mutex_);
    if (error_ && part >= part_) return;
    part_ = part;
    error_ = std::move(error);
  }
  std::optional<Error>& error() { return error_; }

 private:
  std::mutex mutex_;
  int64_t part_ = 0;
  std::optional<Error> error_;
};

}  // namespace

void CallState::Fail(ErrorCode code, std::string message) {
  if (!error_) error_ = Error{code, std::move(message)};
}

void* CallState::Allocate(int64_t count, int64_t element_bytes) {
  uint64_t bytes = 0;
  const bool fits =
      count >= 0 && !__builtin_mul_overflow(static_cast<uint64_t>(count), static_cast<uint64_t>(element_bytes), &bytes);
  const uint64_t limit = limits_.options.max_bytes;
  if (!fits || bytes > limit || limits_.bytes.fetch_add(bytes) + bytes > limit) {
    if (fits && bytes <= limit) limits_.bytes.fetch_sub(bytes);
    Fail(ErrorCode::Budget, fmt::format("a buffer of {} elements exceeds the limit of {} bytes", count, limit));
    return nullptr;
  }
  const uint64_t rounded = (std::max<uint64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, rounded);
  if (!memory) {
    limits_.bytes.fetch_sub(bytes);
    Fail(ErrorCode::Budget, fmt::format("out of memory: cannot allocate a buffer of {} bytes", bytes));
    return nullptr;
  }
  if (limits_.options.fresh) std::memset(memory, std::to_integer<int>(*limits_.options.fresh), bytes);
  allocations_.push_back({memory, bytes});
  return memory;
}

void CallState::Release(int64_t mark) {
  while (std::ssize(allocations_) > mark) {
    std::free(allocations_.back().memory);
    limits_.bytes.fetch_sub(allocations_.back().bytes);
    allocations_.pop_back();
  }
}

// Each chunk has its own state. All chunks run even if one fails, so that the error of the first failing iteration is
// reported, whatever the order of execution.
int32_t CallState::RunParallel(LoopTask task, void* frame, int64_t extent, int64_t grain) {
  const int64_t wanted = limits_.threads <= 1 ? 1 : extent / std::max<int64_t>(grain, 1);
  const int64_t parts = std::clamp<int64_t>(wanted, 1, limits_.threads * kPartsPerThread);
  if (extent <= 0) return 0;
  if (parts == 1) return task(this, frame, 0, extent);
  FirstError first;
  ParallelFor(static_cast<size_t>(parts), limits_.threads, [&](size_t part) {
    CallState state(limits_, constants);
    const auto i = static_cast<int64_t>(part);
    const int64_t size = extent / parts;
    const int64_t longer = extent % parts;  // the number of chunks that have one more iteration
    const int64_t begin = i * size + std::min(i, longer);
    if (task(&state, frame, begin, begin + size + (i < longer ? 1 : 0)) != 0) first.Record(i, std::move(*state.error_));
  });
  if (!first.error()) return 0;
  Fail(first.error()->code, std::move(first.error()->message));
  return 1;
}

int32_t CallState::CallPacked(const char* name, std::span<const LoopArg> args, LoopArg* result) {
  if (!limits_.options.packed) {
    Fail(ErrorCode::SemanticCheck,
         fmt::format("cannot call the packed function '{}': the caller provides no packed functions", name));
    return 1;
  }
  Status status = (*limits_.options.packed)(name, args, result);
  if (status.ok()) return 0;
  const Error error = status.TakeError();
  Fail(error.code, error.message);
  return 1;
}

int32_t CallState::Nest(int32_t by) {
  depth_ += by;
  if (depth_ <= kMaxDepth) return 0;
  Fail(ErrorCode::Budget, "calls are nested too deep");
  return 1;
}

int32_t CallState::Iterate(int64_t iterations) {
  const auto more = static_cast<uint64_t>(iterations);
  const uint64_t limit = limits_.options.max_iterations;
  if (limits_.iterations.fetch_add(more) + more <= limit) return 0;
  Fail(ErrorCode::Budget, fmt::format("while loops take more than {} iterations", limit));
  return 1;
}

namespace {

CallState& StateOf(LoopContext* context) { return *static_cast<CallState*>(context); }

int64_t Power(int64_t base, int64_t exponent) {
  int64_t power = 1;
  for (auto rest = static_cast<uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) power = WrapMul(power, base);
    base = WrapMul(base, base);
  }
  return power;
}

}  // namespace

const LoopRuntime& RuntimeFunctions() {
  static constexpr LoopRuntime kRuntime = {
      .fail =
          [](LoopContext* context, const char* format, int32_t numbers, int64_t a, int64_t b) {
            const int64_t values[] = {a, b};
            StateOf(context).Fail(ErrorCode::SemanticCheck,
                                  WithNumbers(format, std::span(values, static_cast<size_t>(numbers))));
          },
      .allocate = [](LoopContext* context, int64_t count,
                     int64_t element_bytes) { return StateOf(context).Allocate(count, element_bytes); },
      .mark = [](LoopContext* context) { return StateOf(context).mark(); },
      .release = [](LoopContext* context, int64_t mark) { StateOf(context).Release(mark); },
      .parallel = [](LoopContext* context, LoopTask task, void* frame, int64_t extent,
                     int64_t grain) { return StateOf(context).RunParallel(task, frame, extent, grain); },
      .packed =
          [](LoopContext* context, const char* name, const void* args, int32_t num_args, void* result) {
            const auto* list = static_cast<const LoopArg*>(args);
            return StateOf(context).CallPacked(name, std::span(list, static_cast<size_t>(num_args)),
                                               static_cast<LoopArg*>(result));
          },
      .nest = [](LoopContext* context, int32_t by) { return StateOf(context).Nest(by); },
      .iterate = [](LoopContext* context, int64_t iterations) { return StateOf(context).Iterate(iterations); },
      .power = [](int64_t base, int64_t exponent) { return Power(base, exponent); },
  };
  return kRuntime;
}

}  // namespace iropt::codegen
