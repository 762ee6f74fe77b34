#include "form_audit.h"

#include <fmt/format.h>

#include "iropt/ir/relax/visitor.h"
#include "iropt/pass/skip.h"

namespace iropt {

namespace {

// NormalForm is what the verifier checks, and Legalized is a matter of opinion on each operator.
constexpr IRForms kVisible = {IRForm::NoDataflow, IRForm::NoLocalFunctions};

class FormFinder : public ExprVisitor {
 public:
  IRForms forms() const { return forms_; }

 protected:
  void VisitBlock(const BindingBlock* block) override {
    if (block->is_dataflow()) forms_ = forms_ - IRForms{IRForm::NoDataflow};
    ExprVisitor::VisitBlock(block);
  }
  void VisitFunction(const Function* function) override {
    if (depth_ > 0) forms_ = forms_ - IRForms{IRForm::NoLocalFunctions};
    ++depth_;
    ExprVisitor::VisitFunction(function);
    --depth_;
  }

 private:
  IRForms forms_ = kVisible;
  int depth_ = 0;
};

}  // namespace

IRForms VisibleForms(const Module& module) {
  FormFinder finder;
  for (const ModuleEntry& entry : module.functions()) {
    const auto* function = As<Function>(entry.func);
    if (function != nullptr && SkipsOptimization(*function).empty()) finder.VisitExpr(function);
  }
  return finder.forms();
}

Status CheckFormClaims(const PassInfo& info, IRForms before, const Module& after) {
  const IRForms claimed = ((before & info.preserves) | info.establishes) & kVisible;
  for (const IRForm form : (claimed - VisibleForms(after)).List()) {
    return Error{ErrorCode::Rejected,
                 fmt::format("pass '{}' says that it {} the form '{}', but the module is not in it", info.name,
                             info.establishes.Has(form) ? "establishes" : "preserves", IRFormName(form))};
  }
  return {};
}

}  // namespace iropt
