// Pieces of a long body of a Relax function: runs of statements that are kept when the text is read again after an
// edit. A piece is taken as it was if its text is the same, and if the names that it uses stand for the same nodes. So
// the statements that an edit changes are read again, and of those that follow only the ones that depend on them.
//
// Variables of statements that are read again stay the same nodes if name and type are the same: then nothing depends
// on the change. They are changed in place, so a reading can be continued once only.
//
// Nodes of kept pieces have the places where they were read. What is read again gets places that nothing else has,
// above those of the text, so that every place can be found in the text of now (FunctionReading::places).
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "anf_builder.h"
#include "iropt/text/script/reading.h"
#include "text/script/parser_core.h"

namespace iropt::text {

struct BodyPiece {
  // Name with its node; `symbol` is an index into `symbols`, or for a use one behind them.
  struct Name {
    std::string_view name;
    const Node* node = nullptr;
    uint32_t symbol = 0;
  };

  uint32_t size = 0;        // of its text
  uint64_t key = 0;         // of its text
  uint64_t first_key = 0;   // of the first characters
  uint32_t read_begin = 0;  // the source offset of its text when it was read
  bool is_sound = false;    // else only `vars` is set
  bool in_dataflow = false;
  const DictAttr* attrs_before = nullptr;  // of the function
  const DictAttr* attrs_after = nullptr;
  std::vector<const Binding*> bindings;
  std::vector<Name> defines;  // that are in scope at its end
  std::vector<Var*> vars;     // that are defined, in the order of the text
  std::vector<Name> uses;     // of what is defined before it; a null node for a name that must not be in scope
  std::vector<const Node*> symbols;
  std::vector<uint32_t> symbol_begins;  // from the beginning of the piece
  std::vector<Occurrence> occurrences;  // from the beginning of the piece
};

struct PlacedPiece {
  uint32_t begin = 0;  // from the beginning of the function
  std::shared_ptr<const BodyPiece> piece;
};

// Result of reading a function with a long body, which is kept.
struct BodyReading {
  std::vector<const Var*> params;
  const Type* ret_annotation = nullptr;
  std::vector<std::pair<std::string_view, const Node*>> header_names;
  ReadPlace header;
  uint32_t size = 0;  // of the text of the function
  size_t num_occurrences = 0;
  size_t num_symbols = 0;
  std::vector<PlacedPiece> pieces;
  std::vector<FuncStorageRef> storage;  // of everything in them
  uint32_t num_vars = 0;
  uint32_t next_place = 0;  // for what is read next
};

class PieceReader {
 public:
  // Shorter bodies are read at once.
  static constexpr uint32_t kLongBody = 1U << 18;
  static constexpr uint32_t kFirstPlace = 1U << 31;

  // `function` is the offset of the function in the text; `before` is what was read of it, or null.
  PieceReader(ParserCore::Shared shared, AnfBuilder& anf, const DictAttr*& attrs, uint32_t function,
              std::shared_ptr<const BodyReading> before);
  PieceReader(const PieceReader&) = delete;
  PieceReader& operator=(const PieceReader&) = delete;

  // Returns whether so little was read again that a reading can be continued.
  static bool CanContinue(const BodyReading& before);
  // The sequence whose statements are kept.
  void Begin(const AnfBuilder::Sequence* body) { body_ = body; }
  // At the beginning of a statement; true if pieces were taken instead.
  bool AtStatement();
  // At the end of the body or of a dataflow block in it.
  void AtEnd();

  // After the recorder has finished, when the lexer and the symbols may be gone: what can be kept of the reading. Fills
  // its places.
  std::shared_ptr<BodyReading> Finish(FunctionReading& reading);

 private:
  struct Draft {
    uint32_t begin;
    std::shared_ptr<BodyPiece> piece;
    uint32_t first_symbol;
    uint32_t num_symbols;
    std::vector<std::string_view> misses;
  };
  struct Open {
    uint32_t begin;
    size_t diagnostics;
    size_t first_binding;
    size_t first_record;
    uint32_t first_symbol;
    const DictAttr* attrs;
  };
  static constexpr uint32_t kPieceBytes = 1U << 14;
  static constexpr uint32_t kFirstBytes = 64;
  static constexpr uint32_t kNowhere = UINT32_MAX;

  uint32_t LineStart() const;
  uint64_t FirstKey(uint32_t at) const;
  void TakeHeader();
  const PlacedPiece* Candidate(uint32_t at);
  bool Fits(const BodyPiece& piece, uint32_t at) const;
  void Keep(const PlacedPiece& placed, uint32_t at);
  void AddBindings(const BodyPiece& piece);
  void AddOccurrences(const BodyPiece& piece, uint32_t begin);
  void BeginPiece(uint32_t at);
  void EndPiece(uint32_t at);
  void AddDefines(const Open& open, BodyPiece& piece) const;
  void BeginRegion(uint32_t at);
  void EndRegion(uint32_t at);
  void Drop(const BodyPiece& piece);
  void Complete(Draft& draft, const FunctionReading& reading, size_t& next_occurrence) const;
  std::string_view KeptName(std::string_view name, const Node* node) const;
  const Node* Kept(const Node* node) const;
  size_t NumDiagnostics() const { return diag_.error_count() + diag_.warning_count(); }

  Lexer& lex_;
  const ReaderState& state_;
  SymbolTable& symbols_;
  OccurrenceRecorder& recorder_;
  DiagnosticEngine& diag_;
  AnfBuilder& anf_;
  const DictAttr*& attrs_;
  const uint32_t function_;
  const std::string_view text_;  // to the end of the function
  const uint32_t size_;          // of the function
  const std::shared_ptr<const BodyReading> before_;
  const AnfBuilder::Sequence* body_ = nullptr;
  size_t next_ = 0;  // of the pieces before
  std::optional<Open> open_;
  std::vector<std::pair<std::string_view, const Node*>> header_names_;
  std::vector<PlacedPiece> pieces_;
  std::vector<Draft> drafts_;
  std::vector<ReadPlace> places_;
  uint32_t region_ = 0;
  uint32_t next_place_ = kFirstPlace;
  AnfBuilder::KnownVars dropped_;
};

}  // namespace iropt::text
