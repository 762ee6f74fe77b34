// OptimizeLayoutTransform: removes pairs of layout_transforms that cancel each other.
//
//   lv = R.layout_transform(x, index_map=T.index_map(lambda i: (i // 4, i % 4)))
//   lv1 = R.layout_transform(lv, index_map=T.index_map(lambda i, j: (i * 4 + j,)))    -->    gv = R.exp(x)
//   gv = R.exp(lv1)
//
// It is proved for the shape of the tensor that one index map is the inverse of the other. Removal of padding in
// between is allowed: a call of a PrimFunc with the attribute operator_name "remove_pad" may be between the two, if the
// second one has no pad value. In changed functions bindings are canonicalized, equal ones merged and dead ones
// removed. Primitive functions are not changed. O(nodes), and a proof for each pair of maps.
//
// Source: TVM 0.18's pass of this name, which only compares shapes and so also removes a permutation of a square.
#include <array>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/substitute.h"
#include "iropt/op/ops/call_tir.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/support/lookup.h"
#include "transform/relax/ipo/call_tracker.h"

namespace iropt {

namespace {

// Returns whether applying `first` and then `second` to an index of a tensor with these dimensions gives the index.
bool IsInverse(const IndexMapAttr& first, const IndexMapAttr& second, List<const PrimExpr*> dims) {
  if (first.params.size() != dims.size() || first.results.size() != second.params.size() ||
      second.results.size() != dims.size()) {
    return false;
  }
  arith::Analyzer analyzer;
  SymVarMap composed;
  for (uint32_t i = 0; i < first.results.size(); ++i) composed.Set(second.params[i], first.results[i]);
  for (uint32_t i = 0; i < dims.size(); ++i) {
    const DataType dtype = first.params[i]->dtype;
    analyzer.Bind(first.params[i], analyzer.make().Int(0, dtype), analyzer.make().Cast(dtype, dims[i]));
  }
  for (uint32_t i = 0; i < dims.size(); ++i) {
    if (!analyzer.CanProveEqual(SubstituteSymVars(second.results[i], composed), first.params[i])) return false;
  }
  return true;
}

class TransformRemover : public CallTracker {
 public:
  TransformRemover(const Module& module, Workspace& workspace, TypeInferrer& inferrer)
      : CallTracker(workspace, &inferrer), module_(module) {}

 protected:
  const Expr* VisitCall(const Call* old) override {
    const auto* call = To<Call>(CallTracker::VisitCall(old));
    if (!IsOp(call->op, op::kLayoutTransform)) return call;
    const Call* before = CallOf(call->args[0]);
    const bool was_cut = before && IsRemovePad(*before);
    // The values in the padding must not matter then.
    if (was_cut && LayoutTransformAttrs(*call).pad_value()) return call;
    if (was_cut) before = CallOf(To<Tuple>(before->args[1])->fields[0]);
    const bool undone = before && IsOp(before->op, op::kLayoutTransform) && Undoes(*before, *call, old->type);
    return undone ? before->args[0] : call;
  }

 private:
  bool IsRemovePad(const Call& call) const {
    if (!IsOp(call.op, op::kCallTir) || !Is<GlobalVar>(call.args[0])) return false;
    const auto* args = As<Tuple>(call.args[1]);
    const ModuleEntry* callee = module_.Find(To<GlobalVar>(call.args[0]));
    return args && args->fields.size() == 1 && callee && Is<PrimFunc>(callee->func) &&
           static_cast<const PrimFunc*>(callee->func)->StringAttr(attr::kOperatorName) == "remove_pad";
  }

  bool Undoes(const Call& first, const Call& second, const Type* result) {
    const auto* type = As<TensorType>(first.args[0]->type);
    if (!type || !type->known || !TypeEqual(type, result)) return false;
    const LayoutTransformAttrs forth(first);
    const LayoutTransformAttrs back_attrs(second);
    if (!std::ranges::equal(forth.input_axis_separators().vector(), back_attrs.axis_separators().vector()))
      return false;
    const IndexMapAttr* there = forth.index_map();
    const IndexMapAttr* back = back_attrs.index_map();
    const auto [proof, is_new] = proofs_.try_emplace({there, back, type});
    if (is_new) proof = IsInverse(*there, *back, type->dims);
    return proof;
  }

  const Module& module_;
  LookupMap<std::array<const Node*, 3>, bool> proofs_;
};

}  // namespace

Pass CreateOptimizeLayoutTransform(const PassOptions& options) {
  return CreateCallPass<TransformRemover>(options.info(), MergeEqualCalls::kYes);
}

}  // namespace iropt
