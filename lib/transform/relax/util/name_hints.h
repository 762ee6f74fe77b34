// The names that variables had before a printer made them unique, for the parameters of new PrimFuncs.
#pragma once

#include <string_view>
#include <unordered_set>

#include "iropt/ir/relax/expr.h"

namespace iropt {

class NameHints {
 public:
  // To be called for each variable of a function, in order.
  void Add(const Var& var) { names_.insert(var.name()); }

  // Of two variables x the printer calls the second one x_1; in the names of blocks it is x, as in TVM.
  std::string_view Of(const Var& var) const {
    const std::string_view name = var.name();
    const size_t digits = name.find_last_not_of("0123456789") + 1;
    if (digits == name.size() || digits < 2 || name[digits - 1] != '_') return name;
    const std::string_view base = name.substr(0, digits - 1);
    return names_.contains(base) ? base : name;
  }

 private:
  std::unordered_set<std::string_view> names_;  // of the variables so far
};

}  // namespace iropt
