// The mode of batch norms and dropouts, training or inference, for passes.
#pragma once

#include "configs/relax.mode.h"
#include "iropt/analysis/relax/inference_calls.h"

namespace iropt {

// The configuration option relax.mode of the context.
inline NetworkMode NetworkModeOf(const PassContext& context) {
  return NetworkModeOf(context.Config(config::relax::mode));
}

}  // namespace iropt
