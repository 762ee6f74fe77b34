// The inputs on which a function is run before and after passes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "call_interface.h"
#include "input_sizes.h"
#include "iropt/eval/relax/value_type.h"
#include "iropt/eval/tir/prim_func.h"
#include "iropt/execution/random_inputs.h"
#include "program_constants.h"

namespace iropt {

// Of the inputs of a run.
struct InputLimits {
  uint64_t elements = UINT64_MAX;
  size_t bytes = SIZE_MAX;
};

// Describes a budget that was exceeded, for a message.
std::string OverBudget(std::string_view message);

// From which all inputs of a run follow.
struct InputRecipe {
  uint64_t seed = 0;
  RandomOptions random = {};
  InputSizes sizes = {};
  bool fills_outputs = false;  // what a PrimFunc writes has values before, too
  bool near_reals = false;     // many floats are near to numbers of the program
  bool near_integers = false;  // and so are integers
  bool alternates = false;     // every second input is ordinary, the others in the run with the next seed

  // Returns whether integers may be of any size, and not only indices.
  bool has_any_integers() const {
    return random.has_extremes || near_integers || random.integer_form != InputForm::kPlain;
  }
};

// Makes inputs that fit the types of a function and what passes have fixed of them: tensors that they have bound to
// parameters, numbers that sizes have become, and narrower dtypes.
class InputMaker {
 public:
  // `first` is the function before all passes, and `now` what it is at the end of the interface. The module of
  // `first` must outlive it.
  InputMaker(const Entry& first, const CallInterface& interface, const Entry& now);

  // Empty, or why there are no inputs for the function.
  const std::string& obstacle() const { return obstacle_; }
  // The sizes that variables may have.
  const SizeHints& hints() const { return hints_; }
  bool has_integers() const { return has_integers_; }
  // Some of them are signed and have 32 or 64 bits, so that their sums are undefined where they overflow in loops.
  bool has_wide_integers() const { return has_wide_integers_; }
  bool has_outputs() const { return has_outputs_; }

  // The ranges of indices that the dimensions of these inputs and of constants suggest, the widest first; those from
  // the end, which are negative, before others.
  std::vector<IntegerRange> IndexRanges(const InputSizes& sizes) const;

  // From now on, recipes that want numbers near to constants get those near to these.
  void SetConstants(ProgramConstants constants) { constants_ = std::move(constants); }
  const ProgramConstants& constants() const { return constants_; }

  // The inputs; the error says what does not fit. Fails with ErrorCode::Budget if the tensors together would exceed the
  // limits, before memory is allocated for any of them.
  Result<std::vector<HostValue>> Make(const InputRecipe& recipe, const InputLimits& limits) const;
  // "ordinary inputs with n = 3".
  std::string Describe(const InputRecipe& recipe) const;

  // Returns whether both make the same inputs from each recipe, for the same function before all passes.
  bool SameInputs(const InputMaker& other) const;

 private:
  // Parts of an input that passes have fixed.
  struct Fixed {
    Tensor tensor = nullptr;
    DataType dtype = DataType::Void();
    std::vector<int64_t> dims = {};  // -1 where it is not a number; empty if nothing is known

    friend bool operator==(const Fixed&, const Fixed&) = default;
  };

  void FindObstacle();
  void AddDims(const Expr& param, const std::vector<int64_t>& dims);
  void AddSizes(size_t input, std::span<const int64_t> dims);
  Result<std::vector<int64_t>> DimsOf(size_t input, const InputRecipe& recipe, SymbolValues& symbols) const;
  DataType DTypeOf(size_t input) const;
  RandomOptions OptionsFor(size_t input, const InputRecipe& recipe) const;
  Scalar MakeScalar(size_t index, const InputRecipe& recipe) const;
  Result<HostValue> MakeTensor(size_t input, std::vector<int64_t> dims, const InputRecipe& recipe) const;

  Entry first_;
  std::vector<Fixed> fixed_;               // by input
  std::vector<size_t> condition_numbers_;  // by input: how many conditions come before it
  SizeHints hints_;
  std::string obstacle_ = {};
  ProgramConstants constants_ = {};
  bool has_integers_ = false;
  bool has_bytes_ = false;  // integers of 8 bits among the inputs
  bool has_wide_integers_ = false;
  bool has_outputs_ = false;
};

}  // namespace iropt
