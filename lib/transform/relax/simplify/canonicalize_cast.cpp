// CanonicalizeCast: sinks widening casts to their uses.
//
//   lv = R.astype(x, "float32")                    lv = R.astype(x, "float32")
//   lv1 = R.exp(lv)                       -->      lv1 = R.exp(lv)
//   lv2 = R.log(lv)                                lv_1 = R.astype(x, "float32")
//                                                  lv2 = R.log(lv_1)
//
// Fusion then puts each cast into the operator that uses it, and kernels exchange the narrow tensor x.
// EliminateCommonSubexpr undoes it, so this pass must run after it. O(nodes).
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include <algorithm>
#include <utility>
#include <vector>

#include "iropt/ir/rewrite_limit.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/relax/ipo/call_tracker.h"
#include "transform/relax/util/operand_order.h"

namespace iropt {

namespace {

class CastSplitter : public CallTracker {
 public:
  using CallTracker::CallTracker;

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(CallTracker::VisitCall(old));
    const auto* op = As<Op>(call->op);
    if (!op || op->info->pattern > OpPattern::kBroadcast) return call;
    // The copies of the casts that this call uses: one that is used twice is copied once.
    std::vector<std::pair<const Expr*, const Expr*>> own;
    const List<const Expr*> args = MapList(call->args, workspace(), [&](const Expr* arg) -> const Expr* {
      const Call* cast = CallOf(arg);
      if (!cast || !IsWidening(*cast)) return arg;
      const auto known = std::ranges::find(own, arg, &std::pair<const Expr*, const Expr*>::first);
      if (known != own.end()) return known->second;
      const Expr* copy = arg;
      if (!taken_.insert(cast) && AllowRewrite("copied-cast", *old))
        copy = builder().Emit(workspace().New<Call>(*cast), To<Var>(arg)->name());
      own.emplace_back(arg, copy);
      return copy;
    });
    return Rebuild(*call, call->op, args);
  }

 private:
  bool IsWidening(const Call& call) const {
    const auto* from = IsOp(call.op, op::kAstype) ? As<TensorType>(call.args[0]->type) : nullptr;
    const auto* to = As<TensorType>(call.type);
    return from && to && !from->dtype.is_void() && from->dtype.bits < to->dtype.bits;
  }

  LookupSet<const Call*> taken_;  // casts that an elementwise operator uses
};

}  // namespace

Pass CreateCanonicalizeCast(const PassOptions& options) {
  return CreateFunctionPass(options.info(),
                            [](const Function* function, FunctionPassContext& context) -> Result<const Function*> {
                              const auto* split = To<Function>(CastSplitter(context.workspace()).VisitExpr(function));
                              return split == function ? function : SortByOperands(split, context.workspace());
                            });
}

}  // namespace iropt
