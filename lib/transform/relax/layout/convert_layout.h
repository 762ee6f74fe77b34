// ConvertLayout and AlterOpLayout.
#pragma once

#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/statistic.h"

namespace iropt {

// The pass that rewrites operators to the layouts of the option desired_layouts. With `strict`, operators whose layouts
// TVM 0.18 fails to find are errors; otherwise they keep the layouts of the program if no rule fits.
// `inserted` counts conversions of tensors; it must outlive the pass.
Pass MakeLayoutPass(const PassOptions& options, const TypedOption<OptionValue>& desired_layouts, bool strict,
                    const Statistic& inserted);

}  // namespace iropt
