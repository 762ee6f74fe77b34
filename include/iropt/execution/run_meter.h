// Measures what a run of a function computes: its work, and what that means for rounding errors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "iropt/eval/relax/interpreter.h"
#include "iropt/eval/taken_branches.h"
#include "iropt/execution/tolerance.h"

namespace iropt {

// Adds up how many operations the elements of each binding take.
class RunMeter : public RunObserver {
 public:
  // A variable that was bound to what an operator has drawn.
  struct Draw {
    const Function* function;
    const Var* var;
  };

  // `work` is the work of all runs, which kernels increase through their limits.
  explicit RunMeter(uint64_t& work) : work_(work), counted_(work) {}

  void OnBinding(const Function& function, const Var& var, const HostValue& value) override;
  void OnCall(CalleeKind kind, std::string_view, double) override { runs_loops_ |= kind == CalleeKind::kPrimFunc; }
  void OnBranch(const If& branch, bool value) override {
    if (branches_) branches_->Add(&branch, value);
  }
  void OnRandom() override { has_drawn_ = is_random_ = true; }
  void OnOverwrite(const NDArray& tensor) override;

  // From now on, `branches` receives the ways that conditionals go.
  void WatchBranches(TakenBranches* branches) { branches_ = branches; }

  // From now on, notes the first of these inputs that the function overwrites. They must outlive the meter.
  void WatchInputs(std::span<const HostValue> inputs) { inputs_ = inputs; }
  std::optional<size_t> overwritten_input() const { return overwritten_input_; }

  // Counts the steps of an interpreted PrimFunc, which are single operations but take longer.
  void AddSteps(uint64_t steps);
  // Counts the statements of a compiled PrimFunc.
  void AddStatements(uint64_t statements) { work_ += statements; }
  // The value of a binding or a result was computed by the work since the last one. O(1).
  void Add(const HostValue& value);

  // Floats of this dtype were computed.
  void AddFloats(DataType dtype) { precision_.least_precise = LessPrecise(precision_.least_precise, dtype); }

  const RunPrecision& precision() const { return precision_; }
  bool is_random() const { return is_random_; }
  std::span<const Draw> draws() const { return draws_; }
  // A PrimFunc was called.
  bool runs_loops() const { return runs_loops_; }

 private:
  uint64_t& work_;
  uint64_t counted_;
  RunPrecision precision_;
  TakenBranches* branches_ = nullptr;  // null: they are not noted
  std::vector<Draw> draws_ = {};
  std::span<const HostValue> inputs_ = {};
  std::optional<size_t> overwritten_input_ = {};
  bool has_drawn_ = false;  // since the last binding
  bool is_random_ = false;
  bool runs_loops_ = false;
};

}  // namespace iropt
