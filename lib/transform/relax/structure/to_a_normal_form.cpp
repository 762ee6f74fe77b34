// ToANormalForm: brings functions into A-normal form.
//
//   return R.nn.relu(R.add(x, x))    -->    gv = R.add(x, x)
//                                           gv1 = R.nn.relu(gv)
//                                           return gv1
//
// The name of Normalize in TVM's Relay; pipelines may use either. O(nodes).
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

Pass CreateNormalize(const PassOptions& options);

Pass CreateToANormalForm(const PassOptions& options) { return CreateNormalize(options); }

}  // namespace iropt
