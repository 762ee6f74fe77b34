// The search space of schedules for CPUs: what the rule cpu.Tile decides, and other decisions to be measured.
//
//   for (const schedule::TileChoice& choice : schedule::TileChoices(target)) {
//     schedule::Schedule sch(module);
//     if (!schedule::ApplyTileChoice(choice, sch, "main", target)) continue;
//     ...  // measure sch.Snapshot(), keep sch.trace()
//   }
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/schedule/schedule.h"

namespace iropt::schedule {

// Decisions of cpu.Tile. A tile that does not fit a block leaves the choice to the rule.
struct TileChoice {
  // The tile of registers; 0 rows: as the rule's cost says.
  int64_t rows = 0;
  int64_t vectors = 0;
  int64_t vector_parts = 1;   // vectors have this part of the lanes of a register
  bool has_no_parts = false;  // neither weights nor operands are read in parts that fit into a cache
  bool turns_loops = false;   // the loops over tiles are in the other order

  bool operator==(const TileChoice&) const = default;
};

// "rows=6 vectors=2 half vectors", or "cpu.Tile" for the rule's own choices.
std::string Describe(const TileChoice& choice);

// All choices for the target, in the order in which they should be tried: that of the rule first, then its variants,
// then tiles, those that use more registers first. The order depends on the target only.
std::vector<TileChoice> TileChoices(const TargetAttr& target);

// Schedules the function by cpu.Winograd or cpu.Tile with the choice. False if neither rule applies.
bool ApplyTileChoice(const TileChoice& choice, Schedule& schedule, std::string_view function, const TargetAttr& target);

// Estimates how much the function computes: the number of stores, each as often as the loops around it run, times the
// elements that it reads. Loops whose extent is not a number count as one iteration. O(nodes).
double WorkOf(const PrimFunc& func);

}  // namespace iropt::schedule
