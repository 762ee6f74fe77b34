// CombineParallelBatchMatmul: computes several batched products with the same left factor as one.
//
//   y0 = R.matmul(x, w0)                  lv = R.concat((w0, w1, w2), axis=2)
//   y1 = R.matmul(x, w1)      -->         lv1 = R.matmul(x, lv)
//   y2 = R.matmul(x, w2)                  y0, y1, ... = slices of lv1 along axis 2
//
// There must be at least `min_num_branches` of them. All tensors have one batch dimension. Elementwise operators that
// follow all of them are combined, too. CombineParallelMatmul does the same for tensors of any rank, with additions and
// activations. Changed functions are cleaned up. Near-linear.
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/CombineParallelBatchMatmul.h"
#include "sibling_calls.h"

namespace iropt {

namespace {

std::vector<CombinedBranches> FindBatchMatmuls(const Segment& segment, int64_t min_branches) {
  return FindWideProducts(segment, min_branches, 3);
}

}  // namespace

Pass CreateCombineParallelBatchMatmul(const PassOptions& options) {
  return CreateCombiningPass(options, pass_options::CombineParallelBatchMatmul(options).min_num_branches,
                             &FindBatchMatmuls);
}

}  // namespace iropt
