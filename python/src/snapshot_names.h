// The variables of a schedule in Python: those of the function that it began with, as long as primitives keep them.
#pragma once

#include <memory>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"
#include "session.h"

namespace iropt::python {

// Each copy of the functions of a schedule has variables and buffers of its own. In Python those that stand for one of
// the schedule are one.
class SnapshotNames {
 public:
  SnapshotNames(std::shared_ptr<Session> session, const Module& original);

  // Notes what the variables of a copy of a function stand for.
  void Identify(const PrimFunc* func, const ModuleEntry& copy);

 private:
  // What stands for a variable of the schedule as long as any of its copies.
  const Node* Canonical(const Node* name);

  std::shared_ptr<Session> session_;
  std::shared_ptr<NodeStore> store_;
  LookupMap<const Node*, const Node*> canonical_;
};

}  // namespace iropt::python
