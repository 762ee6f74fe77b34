// Copy-on-write for lists of nodes and their parts, at both levels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "iropt/ir/module.h"

namespace iropt {

// f(item) of each item, in order; if f returns a std::optional, nothing leaves the item out. The old list if no item
// changes, else a new one, which is copied when the first item changes. `arena` may be another class with the function
// Copy of Arena.
//
//   copy.args = MapList(call->args, arena, [&](const PrimExpr* arg) { return VisitExpr(arg); });
template <class T, class A, class F>
List<T> MapList(List<T> old, A& arena, F&& f) {
  constexpr bool kMayDrop = std::is_convertible_v<std::nullopt_t, std::invoke_result_t<F&, T>>;
  using Result = std::conditional_t<kMayDrop, std::optional<T>, T>;
  for (uint32_t i = 0; i < old.size(); ++i) {
    const Result first = f(old[i]);
    if (first == old[i]) continue;
    const std::span<T> copy = arena.Copy(old.span());
    uint32_t size = i;
    const auto add = [&](const Result& result) {
      if constexpr (!kMayDrop) {
        copy[size++] = result;
      } else if (result) {
        copy[size++] = *result;
      }
    };
    add(first);
    for (++i; i < old.size(); ++i) add(f(old[i]));
    return List<T>(copy.data(), size);
  }
  return old;
}
template <class T, class F>
List<T> MapList(List<T> old, Workspace& workspace, F&& f) {
  return MapList(old, workspace.arena(), f);
}

// Returns whether two lists are the same one: MapList returns the old list if nothing changes.
template <class T>
constexpr bool IsSameList(List<T> a, List<T> b) {
  return a.begin() == b.begin() && a.size() == b.size();
}

}  // namespace iropt
