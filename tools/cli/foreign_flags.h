// Flags of other tools, for messages about unknown flags: the rows of foreign_flags.def.
#pragma once

#include <algorithm>
#include <string_view>

namespace iropt {

struct ForeignFlag {
  std::string_view name;  // without dashes
  std::string_view tool;
  std::string_view ours;  // a flag of ir-opt, possibly with a value; empty if it needs none
  std::string_view why;   // why it needs none

  // The name of the flag of ir-opt, without a dash.
  constexpr std::string_view our_name() const {
    return ours.substr(std::min<size_t>(1, ours.size()), ours.find('=') - 1);
  }
};

inline constexpr ForeignFlag kForeignFlags[] = {
#define IROPT_FOREIGN_FLAG(Name, Tool, Ours) {Name, Tool, Ours, {}},
#define IROPT_NEEDLESS_FLAG(Name, Tool, Why) {Name, Tool, {}, Why},
#include "cli/foreign_flags.def"
};

static_assert(std::ranges::is_sorted(kForeignFlags, {}, &ForeignFlag::name), "rows are in the order of their names");

}  // namespace iropt
