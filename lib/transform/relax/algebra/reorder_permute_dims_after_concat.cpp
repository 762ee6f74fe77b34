// ReorderPermuteDimsAfterConcat: permutes a concatenation once rather than each of its parts.
//
//   a_t = R.permute_dims(a)                       lv = R.concat((a, b), axis=0)
//   b_t = R.permute_dims(b)             -->       w = R.permute_dims(lv)
//   w = R.concat((a_t, b_t), axis=1)
//
// All parts must be permuted in the same way. CombineParallelMatmul makes such code of linear layers; the one
// permute_dims can then be fused with the product. O(nodes).
//
// Source: TVM 0.18's pass of this name, which handles up to eleven parts.
#include <memory>
#include <vector>

#include "iropt/infer/op_builder.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "transform/relax/util/apply_rules.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

const Expr* PermuteOfConcat(const Call& concat, const Tuple& parts, const Definitions& definitions, OpBuilder calls) {
  const std::optional<int64_t> axis = ConcatAttrs(concat).axis();
  if (!axis || parts.fields.size() < 2) return nullptr;
  std::vector<const Expr*> sources;
  std::vector<int64_t> axes;
  const Call* first = nullptr;
  for (const Expr* part : parts.fields) {
    const Call* permute = CallOf(DefinitionOf(part, definitions), op::kPermuteDims);
    if (!permute) return nullptr;
    const std::vector<int64_t> own = PermutationOf(*permute);
    if (own.empty() || (first && own != axes)) return nullptr;
    if (!first) first = permute;
    axes = own;
    sources.push_back(permute->args[0]);
  }
  const auto at = static_cast<size_t>(*axis < 0 ? *axis + static_cast<int64_t>(axes.size()) : *axis);
  return calls.Make(op::kPermuteDims, {op::Concat(calls, calls.MakeTuple(sources), {.axis = axes[at]})}, first->attrs);
}

RuleSet MakeReorderPermuteDimsAfterConcatRules() {
  const Pattern parts = Wildcard();
  const Pattern concat = IsCall(GetOp(op::kConcat), {parts});
  RuleSet rules;
  rules.Add({"concat-of-permute-dims", concat, [=](const Match& match, BlockBuilder& builder) -> const Expr* {
               const auto* tuple = As<Tuple>(DefinitionOf(match[parts], match.definitions()));
               if (!tuple) return nullptr;
               return PermuteOfConcat(*match.CallAt(concat), *tuple, match.definitions(), OpBuilder(builder));
             }});
  return rules;
}

}  // namespace

Pass CreateReorderPermuteDimsAfterConcat(const PassOptions& options) {
  return CreateRulePass(options.info(), std::make_shared<const RuleSet>(MakeReorderPermuteDimsAfterConcatRules()));
}

}  // namespace iropt
