// Whether batch norms and dropouts are those of training or of inference, for passes.
#pragma once

#include "iropt/analysis/relax/inference_calls.h"
#include "iropt/pass/context.h"

namespace iropt {

// The configuration option relax.mode of the context.
inline NetworkMode NetworkModeOf(const PassContext& context) {
  return NetworkModeOf(context.ConfigString("relax.mode"));
}

}  // namespace iropt
