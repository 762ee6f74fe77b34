// Records where the names of a function occur while it is read. Names are views of the text, so that their places are
// known; what is not in the text of the function, such as the body of a macro, is left out.
#pragma once

#include <cstdint>
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
};

}  // namespace iropt::text
