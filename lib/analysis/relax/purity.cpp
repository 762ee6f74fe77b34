#include "iropt/analysis/relax/purity.h"

#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"

namespace iropt {

namespace {

struct ImpureCallFinder : WalkHandler {
  const Module* module;
  const Expr* self;
  const Call* found = nullptr;
  ImpureCallFinder(const Module* m, const Expr* s) : module(m), self(s) {}

  bool EnterFunction(const Function&) { return false; }
  void OnCall(const Call& call) {
    if (!found && call.op != self && IsImpureCall(&call, module)) found = &call;
  }
};

}  // namespace

const Call* FindImpureCall(const Expr* e, const Module* module, const Expr* self) {
  ImpureCallFinder finder(module, self);
  Walk(e, finder);
  return finder.found;
}

}  // namespace iropt
