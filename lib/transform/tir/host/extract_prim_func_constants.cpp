// tir.ExtractPrimFuncConstants: collects the constant arrays of PrimFuncs in an attribute of the module.
//
//   @I.ir_module                                         @I.ir_module
//   class Module:                                        class Module:
//       @T.prim_func                                         I.module_attrs({"constants": [metadata[...][0]]})
//       def f(...):                                    -->   @T.prim_func
//           K = T.allocate_const([1, 2], "int32", [2])       def f(...):
//                                                                K = T.allocate_const([1, 2], "int32", [2])
//
// Equal arrays are listed once, after those that the attribute has already. Functions stay: TVM's text of an allocation
// does not state the position of its array in the list, which follows from its elements. O(nodes + bytes).
//
// Source: TVM 0.18's pass of this name. It lists only the outermost one of allocations in each other.
#include <vector>

#include "iropt/ir/array_attr.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

class ConstantCollector : public tir::StmtExprVisitor {
 public:
  explicit ConstantCollector(const Attr* known) {
    if (const auto* list = As<ListAttr>(known)) {
      for (const Attr* value : list->values) Add(value);
    }
  }

  const std::vector<const Attr*>& values() const { return values_; }

 protected:
  void VisitExpr(const PrimExpr*) override {}
  void VisitAllocateConst(const tir::AllocateConst* allocate) override {
    if (allocate->data) Add(MakeArrayAttr(*allocate->data));
    StmtExprVisitor::VisitAllocateConst(allocate);
  }

 private:
  // Equal values are the same node.
  void Add(const Attr* value) {
    if (known_.insert(value)) values_.push_back(value);
  }

  std::vector<const Attr*> values_;
  LookupSet<const Attr*> known_;
};

}  // namespace

Pass CreateExtractPrimFuncConstants(const PassOptions& options) {
  return CreateModulePass(options.info(), [](Module module, ModulePassContext&) -> Result<Module> {
    ConstantCollector collector(module.attrs()->Find(attr::kConstants));
    const size_t num_known = collector.values().size();
    for (const ModuleEntry& entry : module.functions()) {
      if (const auto* func = As<PrimFunc>(entry.func)) collector.VisitStmt(func->body);
    }
    if (collector.values().size() > num_known)
      module.set_attrs(module.attrs()->With(attr::kConstants, ListAttr::Get(collector.values())));
    return module;
  });
}

}  // namespace iropt
