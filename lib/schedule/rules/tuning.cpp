#include "iropt/schedule/tuning.h"

#include <fmt/format.h>

#include <algorithm>

#include "block_info.h"
#include "cpu_facts.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/schedule/rules.h"

namespace iropt::schedule {

namespace {

// Adds up the reads of all stores.
class WorkCounter : public tir::StmtExprVisitor {
 public:
  double work() const { return work_; }

 protected:
  void VisitFor(const tir::For* loop) override {
    const double outside = runs_;
    runs_ *= static_cast<double>(std::max<int64_t>(ConstExtent(loop->extent).value_or(1), 1));
    StmtExprVisitor::VisitFor(loop);
    runs_ = outside;
  }
  // The regions, bindings and conditions that a block states are not computed.
  void VisitBlock(const tir::Block* block) override {
    if (block->init) VisitStmt(block->init);
    VisitStmt(block->body);
  }
  void VisitBufferStore(const tir::BufferStore* store) override {
    work_ += runs_;
    StmtExprVisitor::VisitBufferStore(store);
  }
  void VisitBufferLoad(const tir::BufferLoad* load) override {
    work_ += runs_;
    StmtExprVisitor::VisitBufferLoad(load);
  }

 private:
  double runs_ = 1;
  double work_ = 0;
};

// Tiles of up to so many rows and vectors that fit into the registers, those that use more of them first.
std::vector<TileChoice> TilesFor(int64_t registers) {
  constexpr int64_t kMostVectors = 8;
  std::vector<TileChoice> tiles;
  for (int64_t vectors = 1; vectors <= kMostVectors; ++vectors) {
    for (int64_t rows = 1; rows * vectors + vectors + 1 <= registers; ++rows)
      tiles.push_back({.rows = rows, .vectors = vectors});
  }
  std::ranges::stable_sort(tiles, std::greater(), [](const TileChoice& tile) { return tile.rows * tile.vectors; });
  return tiles;
}

}  // namespace

std::string Describe(const TileChoice& choice) {
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : " ") + std::move(part); };
  if (choice.rows > 0) add(fmt::format("rows={} vectors={}", choice.rows, choice.vectors));
  if (choice.vector_parts > 1) add("half vectors");
  if (choice.has_no_parts) add("no parts for caches");
  if (choice.turns_loops) add("loops over tiles turned");
  return text.empty() ? "default schedule" : text;
}

std::vector<TileChoice> TileChoices(const TargetAttr& target) {
  const CpuFacts facts = CpuFactsOf(&target);
  constexpr int64_t kNarrowest = 128;
  std::vector<TileChoice> choices = {{}, {.turns_loops = true}, {.has_no_parts = true}};
  const bool has_halves = facts.vector_bits / 2 >= kNarrowest;
  if (has_halves) choices.push_back({.vector_parts = 2});
  const std::vector<TileChoice> tiles = TilesFor(facts.registers);
  choices.insert(choices.end(), tiles.begin(), tiles.end());
  for (TileChoice tile : tiles) {
    tile.turns_loops = true;
    choices.push_back(tile);
  }
  if (!has_halves) return choices;
  for (TileChoice tile : tiles) {
    tile.vector_parts = 2;
    choices.push_back(tile);
  }
  return choices;
}

bool ApplyTileChoice(const TileChoice& choice, Schedule& schedule, std::string_view function,
                     const TargetAttr& target) {
  // Transforms of convolutions have a rule of their own, which only the width of vectors changes.
  const TargetAttr* chosen = WithTileChoice(target, choice);
  const auto applies = [&](std::string_view rule) {
    Refusal refusal;
    return ApplyRule(*FindRule(rule), schedule, function, chosen, refusal) == RuleResult::kApplied;
  };
  return applies("cpu.Winograd") || applies("cpu.Tile");
}

double WorkOf(const PrimFunc& func) {
  WorkCounter counter;
  counter.VisitStmt(func.body);
  return counter.work();
}

}  // namespace iropt::schedule
