// AlterOpLayout: ConvertLayout as an optimization, with layouts that suit most processors.
//
//   gv = R.nn.conv2d(x, w)                  lv = R.permute_dims(x, axes=[0, 2, 3, 1])
//   gv1 = R.nn.relu(gv)            -->      lv1 = R.permute_dims(w, axes=[0, 2, 3, 1])
//                                           gv = R.nn.conv2d(lv, lv1, data_layout="NHWC", kernel_layout="OHWI", ...)
//                                           lv2 = R.nn.relu(gv)
//                                           gv1 = R.permute_dims(lv2, axes=[0, 3, 1, 2])
//
// Operators without a layout rule are not changed and never an error. O(nodes).
//
// Source: Relay, TVM's former graph-level IR, has a pass of this name, which asks each operator for the preferred
// layout of the target. Here an option states it.
#include "convert_layout.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/transform/options/AlterOpLayout.h"

namespace iropt {

static constexpr Statistic kInserted("AlterOpLayout", "inserted-transforms",
                                     "conversions of a tensor to another layout");

Pass CreateAlterOpLayout(const PassOptions& options) {
  return MakeLayoutPass(options, pass_options::AlterOpLayout(options).desired_layouts, /*strict=*/false, kInserted);
}

}  // namespace iropt
