// Barriers in memory (mbarrier), at which threads arrive in one place and for which they wait in another one.
//
// T.ptx_wait_barrier waits for the first phase of its barrier, so that each barrier orders threads once: what comes
// before the arrivals happens before what follows the waits. What one thread does between its arrival and its wait may
// happen at the same time as both. That is known if one thread has initialized the barrier for as many arrivals as
// there are threads, and all threads arrive once, in no loop and under no condition.
//
// Source: the PTX that TVM 0.18 writes for these intrinsics, and mbarrier in the PTX ISA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/tir/races/accesses.h"
#include "iropt/ir/tir/expr.h"

namespace iropt::races {

// What surrounds a call.
struct Surroundings {
  bool is_straight;  // in no loop but those of threads, and in no branch without a guard
  std::span<const PrimExpr* const> guards;
  std::span<const uint32_t> path;
  size_t num_accesses = 0;  // so far in the phase
};

// The mbarriers of a kernel.
class Mbarriers {
 public:
  static bool IsOne(const tir::Call& call);

  // Threads arrive at a barrier, leave their copies to it, or wait for it for the first time.
  struct Action {
    enum class Kind : uint8_t { kArrive, kLeaveCopies, kWait };
    Kind kind;
    int64_t number;
    size_t num_ordered = 0;  // of a wait: the first accesses of the phase, which come before the arrivals
  };
  // Nothing if the call does not order accesses, or is not known to.
  std::optional<Action> Visit(const tir::Call& call, const Surroundings& at, const std::vector<Loop>& loops);
  // A barrier that ends the phase.
  void EndPhase();
  // A barrier of all threads.
  void Barrier(const tir::Call& call, const Surroundings& at);

  // Adds why the order of accesses is not known, when all loops of the kernel are there.
  void AddTo(Kernel& kernel, std::span<const Loop> loops) const;

 private:
  struct State {
    const tir::Call* initialized = nullptr;
    int64_t count = 0;
    size_t epoch = 0;                     // of the initialization
    std::vector<std::string_view> fixed;  // tags of the axes with one thread there
    bool has_arrivals = false;
    size_t num_before = 0;  // accesses of the phase before the arrivals
    bool is_awaited = false;
  };
  struct Problem {
    const tir::Call* at;
    std::string text;
  };

  std::optional<Action> Create(const tir::Call& call, int64_t count, const Surroundings& at);
  std::optional<Action> Initialize(const tir::Call& call, State& state, const Surroundings& at,
                                   const std::vector<Loop>& loops);
  std::optional<Action> Refuse(const tir::Call& call, std::string text) {
    problems_.push_back({&call, std::move(text)});
    return std::nullopt;
  }

  std::map<int64_t, State> states_;
  const tir::Call* created_ = nullptr;
  int64_t num_created_ = 0;
  size_t created_epoch_ = 0;
  size_t epoch_ = 0;  // barriers of all threads so far
  std::vector<Problem> problems_;
};

}  // namespace iropt::races
