// FoldScaleAxis: BackwardFoldScaleAxis, ForwardFoldScaleAxis and FoldConstant, in this order.
//
//   a = R.nn.conv2d(x, w)      -->    y = R.nn.conv2d(x, w * s)
//   y = R.multiply(a, s)
//
// A Sequential: each of its passes runs at its own level. Moving factors backward comes first, because it moves a
// factor between two convolutions to the one that may be followed by more operators with factors. O(nodes) and what
// FoldConstant computes.
//
// Source: the Sequential of this name of Relay, TVM's former graph-level IR.
#include "iropt/transform/passes.h"
#include "pass_options/FoldScaleAxis.h"

namespace iropt {

Pass CreateFoldScaleAxis(const PassOptions& options) {
  const pass_options::FoldScaleAxis given(options);
  OptionValue::Dict own;
  if (*given.constants_only) own.push_back({std::string(given.constants_only.name()), true, {}});
  return Sequential(
      {transform::BackwardFoldScaleAxis(own), transform::ForwardFoldScaleAxis(own), transform::FoldConstant()},
      options.info());
}

}  // namespace iropt
