// Analyses of functions: results are computed once and cached as long as they are valid.
//
//   struct CalledFunctions {
//     using Result = std::vector<const GlobalVar*>;
//     static constexpr std::string_view kName = "called_functions";
//     static constexpr bool kSurvivesCloning = true;
//     static Result Compute(const BaseFunc& function, const FuncStorage& storage);
//   };
//
//   const auto called = context.Analysis<CalledFunctions>();   // in a function pass; of the current function
//
// An analysis depends only on one function, so its result is valid as long as the function itself does not change,
// whatever passes run. If a pass changes the function, a result is kept only if the pass preserves the analysis
// (PassInfo::preserved_analyses). Such a result must survive cloning: it refers to no node, and to no variable by its
// number, because functions are renumbered between passes.
//
// The configuration option testing.verify_analyses, which -verify-each sets, checks such claims by a new computation.
// Results are compared by A::StillHolds(kept, actual) if the analysis has it, else by ==.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/module.h"
#include "iropt/support/result.h"

namespace iropt {

struct PassInfo;

// A type-erased analysis.
struct AnalysisKind {
  std::string_view name;  // one per analysis of a program, plugins included
  bool survives_cloning;
  std::shared_ptr<const void> (*compute)(const BaseFunc& function, const FuncStorage& storage);
  bool (*still_holds)(const void* kept, const void* actual);
};

template <class A>
const AnalysisKind& KindOf() {
  using Result = typename A::Result;
  static constexpr AnalysisKind kKind = {
      A::kName, A::kSurvivesCloning,
      [](const BaseFunc& function, const FuncStorage& storage) -> std::shared_ptr<const void> {
        return std::make_shared<const Result>(A::Compute(function, storage));
      },
      [](const void* kept, const void* actual) {
        const auto& a = *static_cast<const Result*>(kept);
        const auto& b = *static_cast<const Result*>(actual);
        if constexpr (requires { A::StillHolds(a, b); }) {
          return A::StillHolds(a, b);
        } else {
          return a == b;
        }
      }};
  return kKind;
}

using AnalysisKinds = std::vector<const AnalysisKind*>;

// For PassInfo::preserved_analyses.
template <class... A>
AnalysisKinds PreservedAnalyses() {
  static_assert((A::kSurvivesCloning && ...),
                "a result that refers to nodes or variable numbers does not survive cloning");
  return {&KindOf<A>()...};
}

// The cached results. Thread-safe, except for the functions that are called between passes. A result lives at least as
// long as its function.
class AnalysisManager {
 public:
  AnalysisManager();
  AnalysisManager(const AnalysisManager&) = delete;
  AnalysisManager& operator=(const AnalysisManager&) = delete;
  ~AnalysisManager();

  // The result for the function, computed unless it is cached.
  template <class A>
  std::shared_ptr<const typename A::Result> Get(const ModuleEntry& entry) {
    return std::static_pointer_cast<const typename A::Result>(Get(KindOf<A>(), entry));
  }
  std::shared_ptr<const void> Get(const AnalysisKind& kind, const ModuleEntry& entry);

  // The number of computations.
  size_t num_computed() const;

  // ---- For the pass manager, between passes.

  // Results of functions, by their names in the module.
  struct Preserved {
    struct Item {
      const GlobalVar* var;
      const AnalysisKind* kind;
      std::shared_ptr<const void> result;
    };
    std::vector<Item> items;
  };

  // The cached results of these analyses for the functions of the module; with `compute`, missing ones are computed.
  Preserved Preserve(const Module& module, std::span<const AnalysisKind* const> kinds, bool compute);
  // All cached results that survive cloning.
  Preserved PreserveAcrossCloning(const Module& module);
  // Gives the functions of the module the results that were kept under their names, unless they have results of their
  // own. Drops results of functions that do not exist any more.
  void TransferPreserved(const Module& module, const Preserved& kept);
  // Fails if a transferred result is not valid: the claim of the pass is wrong.
  Status Audit(const Module& module, const Preserved& kept, const PassInfo& info);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace iropt
