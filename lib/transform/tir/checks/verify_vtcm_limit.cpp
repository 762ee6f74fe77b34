// tir.VerifyVTCMLimit: refuses functions that allocate more memory of Hexagon's vector units than there is.
//
//   A = T.allocate([1048576], "int8", "global.vtcm")           # error if the limit is less than 1048576
//   B = T.allocate([64], "int8", "global.vtcm")
//
// The limit is the entry vtcm-capacity of the function's target, if it is a hexagon, or else the configuration option
// tir.vtcm_capacity; 0 means that there is no limit. Functions without a target have that of the option, and are not
// checked without it. What is allocated at the same time counts, if its size is constant. Nothing changes. O(nodes).
//
// Source: TVM 0.18's pass of this name.
#include <fmt/format.h>

#include <algorithm>

#include "configs/tir.vtcm_capacity.h"
#include "iropt/ir/location.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/target_value.h"
#include "iropt/transform/options/VerifyVTCMLimit.h"
#include "transform/tir/util/target.h"

namespace iropt {

namespace {

// The bytes of an allocation; 0 if its size is not constant.
int64_t ConstantBytes(const tir::Allocate& allocate) {
  int64_t bytes = allocate.dtype.bytes();
  for (const PrimExpr* extent : allocate.extents) {
    const auto* size = As<tir::IntImm>(extent);
    if (!size || __builtin_mul_overflow(bytes, size->value, &bytes)) return 0;
  }
  return bytes;
}

class VtcmCounter : public tir::StmtExprVisitor {
 public:
  explicit VtcmCounter(const PrimFunc& func) { VisitStmt(func.body); }
  int64_t greatest() const { return greatest_; }
  // The first allocation at which the greatest number of bytes was allocated.
  const tir::Allocate* at() const { return at_; }

 protected:
  void VisitExpr(const PrimExpr*) override {}
  void VisitAllocate(const tir::Allocate* allocate) override {
    const tir::PointerInfo* pointer = allocate->buffer_var->pointer;
    const int64_t bytes = pointer && pointer->scope == "global.vtcm" ? ConstantBytes(*allocate) : 0;
    current_ += bytes;
    if (current_ > greatest_) {
      greatest_ = current_;
      at_ = allocate;
    }
    StmtExprVisitor::VisitAllocate(allocate);
    current_ -= bytes;
  }

 private:
  int64_t current_ = 0;
  int64_t greatest_ = 0;
  const tir::Allocate* at_ = nullptr;
};

int64_t VtcmCapacity(const DictAttr& target, const PassContext& context) {
  const auto* own = As<IntAttr>(target.Find("vtcm-capacity"));
  if (TargetString(target, "kind") == "hexagon" && own && own->value > 0) return own->value;
  return context.Config(config::tir::vtcm_capacity);
}

void VerifyVtcmLimit(const PrimFunc& func, const TargetAttr* default_target, const ModulePassContext& context) {
  const DictAttr* target = TargetOf(func);
  if (!target && default_target) target = default_target->config;
  const int64_t limit = target ? VtcmCapacity(*target, context.context) : 0;
  if (limit <= 0) return;
  const VtcmCounter counter(func);
  if (counter.greatest() <= limit) return;
  context.diagnostics.Error(
      Location(*counter.at()), "pass-failed",
      fmt::format("{} bytes of global.vtcm are allocated, of which the target has only {}", counter.greatest(), limit));
}

}  // namespace

Pass CreateVerifyVTCMLimit(const PassOptions& options) {
  const pass_options::VerifyVTCMLimit given(options);
  const OptionValue& option = *given.default_target;
  const TargetAttr* default_target = option.is_null() ? nullptr : ReadTarget(option, options.diagnostics());
  return CreateModulePass(options.info(),
                          [default_target](Module module, ModulePassContext& context) -> Result<Module> {
                            for (const ModuleEntry& entry : module.functions()) {
                              const auto* func = As<PrimFunc>(entry.func);
                              if (func) VerifyVtcmLimit(*func, default_target, context);
                            }
                            return module;
                          });
}

}  // namespace iropt
