// The layouts that a user wants: the option desired_layouts of ConvertLayout and AlterOpLayout.
#pragma once

#include <span>
#include <vector>

#include "iropt/infer/layout.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/op/op.h"
#include "iropt/pass/pass_options.h"

namespace iropt {

struct DesiredLayouts {
  struct Row {
    const OpInfo* op;
    std::vector<Layout> layouts;
  };

  std::vector<Row> rows;
  // The operators have Relay's names, such as nn.conv2d, and layouts are chosen as Relay's pass does.
  bool as_relay = false;

  bool empty() const { return rows.empty(); }
  // Those of the operator; empty if there are none.
  std::span<const Layout> For(const Call& call) const;
};

// Refuses operators without a choice, and layouts that are not those of the operator's axes.
DesiredLayouts ReadDesiredLayouts(const PassOptions& options, const TypedOption<OptionValue>& desired);

}  // namespace iropt
