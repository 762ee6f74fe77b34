#include "rules.h"

namespace iropt {

namespace {

Partials NoPartials(const GradCall&, GradBuilder&) { return {}; }

}  // namespace

GradRule FindGradRule(OpId op) {
  switch (op) {
    // clang-format off
#define IROPT_GRADIENT(op, rule) case OpId::k##op: return &rule;
#define IROPT_NO_GRADIENT(op) case OpId::k##op: return &NoPartials;
#include "rules.def"
    // clang-format on
    default: return nullptr;
  }
}

}  // namespace iropt
