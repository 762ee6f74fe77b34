// The layouts that Relay's ConvertLayout chooses.
#pragma once

#include <span>
#include <vector>

#include "iropt/infer/layout_rules.h"
#include "iropt/support/arena.h"

namespace iropt {

// The decision about a call as Relay's pass makes it. A value has a layout as soon as an operator that knows layouts
// has made it, also if it is that of the program; null is a value of which Relay does not know the layout. So is the
// result of an operator whose first operand is such a value, but for convolutions and poolings, which say what their
// axes are. An operand that is to have a layout of more axes than it has gets new axes in front of its own.
class RelayLayouts {
 public:
  RelayLayouts(const Call& call, std::span<const ValueLayout* const> layouts, std::span<const Layout> desired,
               Arena& arena, TextVersion version);

  // `is_bias` says that the second operand is a vector with new axes after its own, as in Relay's nn.bias_add, which
  // its pass does not convert. False if operands and result have the layouts of the program, and that of the result is
  // not known.
  bool Decide(bool is_bias);
  const LayoutCall& decision() const { return decision_; }

 private:
  bool DecideConv();
  bool DecideBroadcast();
  bool DecideConcat();
  bool DecidePad();
  bool DecideStridedSlice();
  // Decides by the rule, if there is one; the result has a layout then.
  bool Follow(LayoutRule rule);
  const ValueLayout* Known(const AxisOrder& order) {
    return arena_.New<ValueLayout>(order, List<const ValueLayout*>());
  }
  // The layout with that of the program where it has none.
  const ValueLayout* Known(const ValueLayout* layout, const Type* type);

  const Call& call_;
  Arena& arena_;
  std::vector<const ValueLayout*> layouts_;
  std::vector<Layout> desired_;
  LayoutCall decision_;
};

}  // namespace iropt
