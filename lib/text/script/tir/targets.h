// Targets of assignments: a name, or a list of targets that unpacks a list as in Python.
#pragma once

#include <span>

#include "iropt/support/arena.h"
#include "iropt/support/inline_vector.h"
#include "iropt/support/name_map.h"
#include "text/script/parser_core.h"

namespace iropt::text {

// x, (x, y), [x, *rest]: a name, or a list of targets for the items of a list.
struct Target {
  Token name;
  bool star = false;
  bool is_list = false;
  std::span<const Target> items;  // in the arena of the reader
  Span span;
};

// The items of a list while it is read.
using Targets = InlineVector<Target, 8>;

class TargetReader : public ParserCore {
 public:
  // Lists of targets are made in the arena.
  TargetReader(Shared shared, Arena& arena) : ParserCore(shared), arena_(arena) {}

  // Everything up to `=` or `in`: with commas, a list without brackets. False after an error, as below.
  bool ParseTargets(Target& target);
  // One target, with brackets around a list.
  bool ParseTarget(Target& target);
  bool AtTarget() const;
  // After the name, list or star that a statement begins with: whether a list of targets ends at `=`.
  bool AtTargetList();

 private:
  bool ParseAny(Target& target);
  bool CheckDistinct(const Target& target);
  bool AddNames(const Target& target);

  Arena& arena_;
  NameMap<char> names_;  // of the list that is checked; no values
};

}  // namespace iropt::text
