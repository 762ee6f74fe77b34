// Facts about single functions that are computed once and kept as long as they hold.
//
//   struct CalledFunctions {
//     using Result = std::vector<const GlobalVar*>;
//     static constexpr std::string_view kName = "called_functions";
//     static constexpr bool kPortable = true;
//     static Result Compute(const BaseFunc& function, const FuncStorage& storage);
//   };
//
//   const auto called = context.Analysis<CalledFunctions>();   // in a function pass; of the function at hand
//
// An analysis sees a function and nothing else, so its result holds for as long as a module has that very function,
// whatever passes run. When a pass has changed the function, a result is kept only if the pass says that it preserves
// the analysis (PassInfo::preserved_analyses). For that it must be portable: it refers to no node, and to no variable
// by its number, because functions are renumbered between passes.
//
// The configuration option testing.verify_analyses, which -verify-each sets, holds such claims against a new
// computation. They are compared by A::StillHolds(kept, actual) where there is one, else by ==.
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

// An analysis without its type.
struct AnalysisKind {
  std::string_view name;  // one per analysis of a program, plugins included
  bool portable;
  std::shared_ptr<const void> (*compute)(const BaseFunc& function, const FuncStorage& storage);
  bool (*still_holds)(const void* kept, const void* actual);
};

template <class A>
const AnalysisKind& KindOf() {
  using Result = typename A::Result;
  static constexpr AnalysisKind kKind = {
      A::kName, A::kPortable,
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
  static_assert((A::kPortable && ...), "what refers to nodes or numbers of variables does not survive a change");
  return {&KindOf<A>()...};
}

// The results at hand. Thread-safe, but for what is done between passes. A result lives at least as long as its
// function.
class AnalysisManager {
 public:
  AnalysisManager();
  AnalysisManager(const AnalysisManager&) = delete;
  AnalysisManager& operator=(const AnalysisManager&) = delete;
  ~AnalysisManager();

  // The result for the function, computed unless it is at hand.
  template <class A>
  std::shared_ptr<const typename A::Result> Get(const ModuleEntry& entry) {
    return std::static_pointer_cast<const typename A::Result>(Get(KindOf<A>(), entry));
  }
  std::shared_ptr<const void> Get(const AnalysisKind& kind, const ModuleEntry& entry);

  // How often something was computed.
  size_t num_computed() const;

  // ---- For the pass manager, between passes.

  // Results of functions, by the names that these have in their module.
  struct Kept {
    struct Item {
      const GlobalVar* var;
      const AnalysisKind* kind;
      std::shared_ptr<const void> result;
    };
    std::vector<Item> items;
  };

  // What is at hand of these analyses for the functions of the module; with `compute`, all of it.
  Kept Keep(const Module& module, std::span<const AnalysisKind* const> kinds, bool compute);
  // Everything portable that is at hand.
  Kept KeepPortable(const Module& module);
  // Lets the functions of the module have what was kept under their names, unless they have results of their own.
  // Forgets what belonged to functions that are no more.
  void Restore(const Module& module, const Kept& kept);
  // Fails where a result that was restored does not hold: the claim of the pass is wrong.
  Status Audit(const Module& module, const Kept& kept, const PassInfo& info);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace iropt
