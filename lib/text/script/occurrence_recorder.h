// Records where the names of a function occur while it is read. Names are views of the text, so that their places are
// known; what is not in the text of the function, such as the body of a macro, is left out.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/ir/node.h"
#include "iropt/text/script/reading.h"

namespace iropt::text {

class OccurrenceRecorder {
 public:
  // `text` is that of the function.
  explicit OccurrenceRecorder(std::string_view text) : text_(text) {}

  // A new symbol for the name.
  uint32_t Define(std::string_view name, const Node* node);
  // The symbol that was defined at the name at `place`, which `node` stands for from now on.
  uint32_t DefineAgain(std::string_view place, const Node* node);
  // Two definitions are of one variable.
  void Join(std::string_view place, uint32_t symbol);
  void Use(std::string_view name, uint32_t symbol) { Note(OccurrenceKind::kUse, name, symbol); }
  void Note(OccurrenceKind kind, std::string_view name, uint32_t symbol = 0);

  // ---- For readers that keep what they read

  // Makes room for that many occurrences and symbols.
  void Reserve(size_t occurrences, size_t symbols) {
    occurrences_.reserve(occurrences);
    symbols_.reserve(symbols);
  }
  // From now on, names that are looked up in vain are noted, too.
  void NoteMisses() { notes_misses_ = true; }
  void Miss(std::string_view name) {
    if (notes_misses_) misses_.push_back(name);
  }
  // Those since the last call, each once.
  std::vector<std::string_view> TakeMisses();
  uint32_t num_symbols() const { return static_cast<uint32_t>(symbols_.size()); }
  std::span<const Occurrence> occurrences() const { return occurrences_; }
  // Returns the offset of the symbol's definition; UINT32_MAX if it is not in the text.
  uint32_t BeginOf(uint32_t symbol) const { return symbols_[symbol].begin; }
  const Node* NodeOf(uint32_t symbol) const { return symbols_[symbol].node; }
  void SetNode(uint32_t symbol, const Node* node) { symbols_[symbol].node = node; }
  // Adds symbols of an earlier reading, which are defined `by` further behind now. Returns the first of them.
  uint32_t AddSymbols(std::span<const Node* const> nodes, std::span<const uint32_t> begins, uint32_t by);
  void Add(const Occurrence& occurrence) { occurrences_.push_back(occurrence); }

  // Everything that was recorded, in the order of the text.
  void Finish(std::vector<const Node*>& symbols, std::vector<Occurrence>& occurrences);

 private:
  struct Symbol {
    const Node* node;
    uint32_t begin;  // of the definition
    uint32_t same;   // a symbol of the same variable, or its own
  };
  static constexpr uint32_t kNowhere = UINT32_MAX;

  uint32_t OffsetOf(std::string_view name) const;
  uint32_t FindDefinition(uint32_t begin) const;
  uint32_t Root(uint32_t symbol) const;
  void JoinEqualNodes();

  std::string_view text_;
  std::vector<Symbol> symbols_;
  std::vector<Occurrence> occurrences_;
  std::vector<std::string_view> misses_;
  bool notes_misses_ = false;
};

}  // namespace iropt::text
