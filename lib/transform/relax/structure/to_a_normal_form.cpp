// ToANormalForm: brings functions into A-normal form.
//
//   return R.nn.relu(R.add(x, x))    -->    gv = R.add(x, x)
//                                           gv1 = R.nn.relu(gv)
//                                           return gv1
//
// The name of Normalize in TVM's Relay; pipelines may use either. O(nodes).
#include "iropt/transform/passes.h"

namespace iropt {

Pass CreateToANormalForm(const PassOptions& options) { return CreateNormalize(options); }

}  // namespace iropt
