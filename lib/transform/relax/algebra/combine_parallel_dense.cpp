// CombineParallelDense: computes several matrix products with the same left factor as one.
//
//   y0 = R.matmul(x, w0)                  lv = R.stack((w0, w1, w2), axis=0)
//   y1 = R.matmul(x, w1)      -->         lv1 = R.matmul(x, lv)
//   y2 = R.matmul(x, w2)                  lv2 = R.split(lv1, indices_or_sections=[1, 2], axis=0)
//                                         y0 = R.squeeze(lv2[0], axis=[0])
//                                         ...
//
// There must be at least `min_num_branches` of them. Right factors of the same shape are stacked to a batch; with
// to_batch=false, those of one height are concatenated along their columns. Elementwise operators that follow all of
// them are combined, too. CombineParallelMatmul does the latter for tensors of any rank, with additions and
// activations. Changed functions are cleaned up. Near-linear.
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include <map>
#include <utility>

#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/CombineParallelDense.h"
#include "sibling_calls.h"

namespace iropt {

namespace {

std::vector<CombinedBranches> FindDense(const Segment& segment, int64_t min_branches) {
  return FindWideProducts(segment, min_branches, 2);
}

// Factors of equal shapes.
std::vector<CombinedBranches> FindStackable(const Segment& segment, int64_t min_branches) {
  std::vector<Siblings> of_one_width;
  for (const Siblings& siblings : FindProducts(segment, 2)) {
    std::map<int64_t, Siblings> by_width;
    for (const auto& call : siblings.calls) by_width[WidthOf(*call.first, 1)].calls.push_back(call);
    for (auto& [width, same] : by_width) of_one_width.push_back(std::move(same));
  }
  return Collect(segment, std::move(of_one_width), min_branches,
                 [](const Call&) { return ConcatAxes{.stacks = true}; });
}

}  // namespace

Pass CreateCombineParallelDense(const PassOptions& options) {
  const pass_options::CombineParallelDense given(options);
  return CreateCombiningPass(options, given.min_num_branches, *given.to_batch ? &FindStackable : &FindDense);
}

}  // namespace iropt
