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
#include <optional>

#include "iropt/transform/options/FoldScaleAxis.h"
#include "iropt/transform/passes.h"

namespace iropt {

Pass CreateFoldScaleAxis(const PassOptions& options) {
  const pass_options::FoldScaleAxis given(options);
  const std::optional<bool> only = *given.constants_only ? std::optional(true) : std::nullopt;
  return Sequential({transform::BackwardFoldScaleAxis({.constants_only = only}),
                     transform::ForwardFoldScaleAxis({.constants_only = only}), transform::FoldConstant()},
                    options.info());
}

}  // namespace iropt
