// CombineParallelConv2D: computes several convolutions of the same data as one.
//
//   y0 = R.nn.conv2d(x, w0)               lv = R.concat((w0, w1, w2), axis=0)
//   y1 = R.nn.conv2d(x, w1)      -->      lv1 = R.nn.conv2d(x, lv)
//   y2 = R.nn.conv2d(x, w2)               y0, y1, ... = slices of lv1 along axis 1
//
// There must be at least `min_num_branches` of them, with the same attributes, one group, and kernels of the same size.
// Elementwise operators that follow all of them, such as additions of biases and activations, are combined, too; other
// operands must have the channels of the results. Changed functions are cleaned up. Near-linear.
//
// Source: the pass of this name of Relay, TVM's former graph-level IR.
#include "iropt/op/ops/convolution.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/CombineParallelConv2D.h"
#include "sibling_calls.h"
#include "transform/relax/util/tensor_axes.h"

namespace iropt {

namespace {

int OutputChannelAxis(const Call& conv) {
  const ConvAttrs attrs(conv);
  const size_t axis = attrs.kernel_layout().find('O');
  const TensorType* kernel = TensorTypeOf(conv.args[1]);
  if (attrs.groups() != 1 || attrs.kernel_layout().size() != 4 || kernel->ndim != 4 || axis > 3) return -1;
  return static_cast<int>(axis);
}

std::vector<CombinedBranches> FindConvolutions(const Segment& segment, int64_t min_branches) {
  return Collect(
      segment, FindSiblings(segment, op::kNnConv2d, &OutputChannelAxis), min_branches, [](const Call& first) {
        const ConvAttrs attrs(first);
        const std::string_view layout = attrs.out_layout().empty() ? attrs.data_layout() : attrs.out_layout();
        return ConcatAxes{static_cast<size_t>(OutputChannelAxis(first)), static_cast<int64_t>(layout.find('C'))};
      });
}

}  // namespace

Pass CreateCombineParallelConv2D(const PassOptions& options) {
  return CreateCombiningPass(options, pass_options::CombineParallelConv2D(options).min_num_branches, &FindConvolutions);
}

}  // namespace iropt
