#include "occurrence_recorder.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "iropt/ir/attr.h"
#include "iropt/ir/tir/expr.h"
#include "iropt/support/lookup.h"

namespace iropt::text {

namespace {

// Sorts what is nearly in order: a variable is recorded after the value that it is bound to. Those of a prologue, which
// is read before, may be far from their places.
void SortOccurrences(std::vector<Occurrence>& occurrences) {
  const auto precedes = [](const Occurrence& a, const Occurrence& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.kind < b.kind;
  };
  size_t most_moves = 16 * occurrences.size();
  for (size_t i = 1; i < occurrences.size(); ++i) {
    if (!precedes(occurrences[i], occurrences[i - 1])) continue;
    const Occurrence moved = occurrences[i];
    size_t to = i;
    for (; to > 0 && precedes(moved, occurrences[to - 1]); --to) occurrences[to] = occurrences[to - 1];
    occurrences[to] = moved;
    if (i - to > most_moves) return std::ranges::stable_sort(occurrences, precedes), void();
    most_moves -= i - to;
  }
}

// Values of names and the module itself are nodes of the reader, which end with it.
const Node* LastingNode(const Node* node) { return node && node->kind == NodeKind::kNoneAttr ? NoneAttr::Get() : node; }

}  // namespace

uint32_t OccurrenceRecorder::OffsetOf(std::string_view name) const {
  const std::less<> before;
  if (before(name.data(), text_.data()) || !before(name.data(), text_.data() + text_.size())) return kNowhere;
  return static_cast<uint32_t>(name.data() - text_.data());
}

void OccurrenceRecorder::Note(OccurrenceKind kind, std::string_view name, uint32_t symbol) {
  const uint32_t begin = OffsetOf(name);
  if (begin == kNowhere || name.empty()) return;
  occurrences_.push_back({begin, begin + static_cast<uint32_t>(name.size()), symbol, kind});
}

uint32_t OccurrenceRecorder::Define(std::string_view name, const Node* node) {
  const auto symbol = static_cast<uint32_t>(symbols_.size());
  symbols_.push_back({LastingNode(node), OffsetOf(name), symbol});
  Note(OccurrenceKind::kDefinition, name, symbol);
  return symbol;
}

// Names are defined again soon after they were defined, so the search is short.
uint32_t OccurrenceRecorder::FindDefinition(uint32_t begin) const {
  for (size_t i = symbols_.size(); i-- > 0 && begin != kNowhere;) {
    if (symbols_[i].begin == begin) return static_cast<uint32_t>(i);
  }
  return kNowhere;
}

uint32_t OccurrenceRecorder::DefineAgain(std::string_view place, const Node* node) {
  const uint32_t known = FindDefinition(OffsetOf(place));
  if (known == kNowhere) return Define({}, node);
  symbols_[known].node = LastingNode(node);
  return known;
}

void OccurrenceRecorder::Join(std::string_view place, uint32_t symbol) {
  const uint32_t known = FindDefinition(OffsetOf(place));
  if (known == kNowhere) return;
  const uint32_t root = Root(known);
  if (root != Root(symbol)) symbols_[root].same = Root(symbol);
}

uint32_t OccurrenceRecorder::Root(uint32_t symbol) const {
  while (symbols_[symbol].same != symbol) symbol = symbols_[symbol].same;
  return symbol;
}

// A variable of the signature may be defined once more by a statement, with the same node.
void OccurrenceRecorder::JoinEqualNodes() {
  LookupMap<const Node*, uint32_t> known;
  for (uint32_t i = 0; i < symbols_.size(); ++i) {
    const Symbol& symbol = symbols_[i];
    if (!symbol.node || !tir::Var::ClassOf(symbol.node->kind) || symbol.begin == kNowhere) continue;
    const auto [first, added] = known.try_emplace(symbol.node, i);
    const auto name = [&](const Symbol& s) {
      const size_t size = static_cast<const tir::Var*>(s.node)->name.size();
      return text_.substr(s.begin, size);
    };
    if (!added && name(symbol) == name(symbols_[first]) && Root(i) != Root(first)) symbols_[Root(i)].same = Root(first);
  }
}

void OccurrenceRecorder::Finish(std::vector<const Node*>& symbols, std::vector<Occurrence>& occurrences) {
  JoinEqualNodes();
  SortOccurrences(occurrences_);
  // A place that is read twice defines one variable.
  for (size_t i = 1; i < occurrences_.size(); ++i) {
    const Occurrence& first = occurrences_[i - 1];
    const Occurrence& second = occurrences_[i];
    if (second.begin != first.begin || second.kind != OccurrenceKind::kDefinition) continue;
    if (Root(first.symbol) != Root(second.symbol)) symbols_[Root(first.symbol)].same = Root(second.symbol);
  }
  const auto begin_together = [](const Occurrence& a, const Occurrence& b) { return a.begin == b.begin; };
  occurrences_.erase(std::unique(occurrences_.begin(), occurrences_.end(), begin_together), occurrences_.end());
  for (Occurrence& occurrence : occurrences_) {
    if (occurrence.kind <= OccurrenceKind::kUse) occurrence.symbol = Root(occurrence.symbol);
  }
  if (occurrences_.capacity() - occurrences_.size() > occurrences_.size() / 8) occurrences_.shrink_to_fit();
  occurrences = std::move(occurrences_);
  symbols.reserve(symbols_.size());
  for (const Symbol& symbol : symbols_) symbols.push_back(symbol.node);
}

}  // namespace iropt::text
