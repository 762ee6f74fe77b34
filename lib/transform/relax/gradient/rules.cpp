#include "rules.h"

#include "iropt/op/ops/activation.h"
#include "iropt/op/ops/arithmetic.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/binary.h"
#include "iropt/op/ops/broadcast.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/convolution.h"
#include "iropt/op/ops/create.h"
#include "iropt/op/ops/datatype.h"
#include "iropt/op/ops/exponential.h"
#include "iropt/op/ops/loss.h"
#include "iropt/op/ops/matmul.h"
#include "iropt/op/ops/pooling.h"
#include "iropt/op/ops/reduction.h"
#include "iropt/op/ops/reshape.h"
#include "iropt/op/ops/roots.h"
#include "iropt/op/ops/scan.h"
#include "iropt/op/ops/slice.h"
#include "iropt/op/ops/softmax.h"
#include "iropt/op/ops/statistical.h"
#include "iropt/op/ops/trigonometric.h"
#include "iropt/op/ops/unary.h"

namespace iropt {

namespace {

Partials NoPartials(const GradCall&, GradBuilder&) { return {}; }

}  // namespace

GradRule FindGradRule(OpId op) {
  switch (op) {
    // clang-format off
#define IROPT_GRADIENT(id, rule) case op::k##id: return &rule;
#define IROPT_NO_GRADIENT(id) case op::k##id: return &NoPartials;
#include "rules.def"
    // clang-format on
    default: return nullptr;
  }
}

}  // namespace iropt
