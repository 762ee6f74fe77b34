// The interface of a public function after passes, in terms of the inputs that it had at first.
//
// Some passes change the parameters and results of public functions on purpose (PassChange). The inputs of the changed
// function then follow from those of the original one: constants are no longer passed, weights are the results of a
// transform function, or values go through callbacks.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "iropt/execution/entry.h"
#include "iropt/pass/pass_info.h"

namespace iropt {

// Source of the value of an input.
struct InputSource {
  enum class Kind : uint8_t {
    kInput,        // an original input
    kTransformed,  // an output of the transform function
    kGetInput,     // the callback that gives the fetched parameters
    kSetOutput,    // the callback that takes the results
  };
  Kind kind = Kind::kInput;
  size_t index = 0;  // of the original input, or of the output

  friend bool operator==(const InputSource&, const InputSource&) = default;
};

// Effect of a pass on the interface of a function.
struct InterfaceChange {
  enum class Kind : uint8_t {
    kKnown,          // the inputs after the pass follow from those before it
    kNotComparable,  // they do not, but the pass may do that
    kWrong,          // the pass does not say that it changes interfaces in this way
  };
  Kind kind = Kind::kKnown;
  std::string reason = {};

  static InterfaceChange NotComparable(std::string reason) { return {Kind::kNotComparable, std::move(reason)}; }
  static InterfaceChange Wrong(std::string reason) { return {Kind::kWrong, std::move(reason)}; }
};

class CallInterface {
 public:
  // A parameter that the function fetches from a callback.
  struct Fetched {
    const Type* type;
    FuncStorageRef storage;  // keeps the type
    std::vector<InputSource> sources;
  };
  // The function that computes weights.
  struct Transform;

  // That of a function before any pass.
  explicit CallInterface(const Entry& entry);

  const GlobalVar& var() const { return *var_; }
  // The function in a module after the passes that were followed.
  Entry EntryIn(const Module& module) const;

  // By input of the function.
  const std::vector<InputSource>& sources() const { return sources_; }
  const std::vector<Fetched>& fetched() const { return fetched_; }
  bool sets_outputs() const { return sets_outputs_; }
  // Null if there is none.
  const Transform* transform() const { return transform_.get(); }
  // Tensors that passes have bound, by original input.
  const std::vector<std::pair<size_t, Tensor>>& bound() const { return bound_; }

  // Follows a pass from the module before it to the module after it. After another outcome than kKnown, the interface
  // must not be used. O(inputs).
  InterfaceChange Follow(const PassInfo& pass, const Module& before, const Module& after);

 private:
  struct Step;

  InterfaceChange FollowTransform(const Step& step);
  InterfaceChange FollowInputs(const Step& step);
  InterfaceChange FollowSameInputs(const Step& step) const;
  InterfaceChange FollowBoundParams(const Step& step);
  InterfaceChange FollowLiftedWeights(const Step& step);
  void FollowInputCallback(const Step& step);
  void FollowOutputCallback(const Step& step);

  const GlobalVar* var_;
  std::vector<InputSource> sources_;
  std::vector<bool> written_ = {};  // by original input: the original PrimFunc wrote to it
  std::vector<Fetched> fetched_ = {};
  bool sets_outputs_ = false;
  std::shared_ptr<const Transform> transform_ = nullptr;
  std::vector<std::pair<size_t, Tensor>> bound_ = {};
};

struct CallInterface::Transform {
  CallInterface interface;
  std::vector<InputSource> sources;  // by original input of the transform function: inputs of the function
};

}  // namespace iropt
