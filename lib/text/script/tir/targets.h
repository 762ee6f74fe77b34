// Targets of assignments: a name, or a list of targets that unpacks a list as in Python.
#pragma once

#include <vector>

#include "text/script/parser_core.h"

namespace iropt::text {

// x, (x, y), [x, *rest]: a name, or a list of targets for the items of a list.
struct Target {
  Token name;
  bool star = false;
  bool is_list = false;
  std::vector<Target> items;
  Span span;
};

class TargetReader : public ParserCore {
 public:
  using ParserCore::ParserCore;

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
};

}  // namespace iropt::text
