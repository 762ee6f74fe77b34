// The layout rules by which calls are told apart, whichever operator they call.
#pragma once

#include "iropt/infer/layout_rules.h"

namespace iropt {

bool LayoutAdaptivePool(LayoutCall& call);
bool LayoutBatchNorm(LayoutCall& call);
bool LayoutBroadcast(LayoutCall& call);
bool LayoutConcat(LayoutCall& call);
bool LayoutConv(LayoutCall& call);
bool LayoutConvTranspose(LayoutCall& call);
bool LayoutDropout(LayoutCall& call);
bool LayoutElementwise(LayoutCall& call);
bool LayoutPool(LayoutCall& call);
bool LayoutReduce(LayoutCall& call);
bool LayoutResize2d(LayoutCall& call);
bool LayoutResize3d(LayoutCall& call);
bool LayoutSplit(LayoutCall& call);
bool LayoutSqueeze(LayoutCall& call);
bool LayoutStridedSlice(LayoutCall& call);

}  // namespace iropt
