// The contents of buffers in the loops of a PrimFunc.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/ir/tir/expr.h"
#include "semantics/proof/term_builder.h"

namespace iropt::proof {

// A store, for all values of the variables of loops.
struct LoopWrite {
  Dims vars = {};     // of loops that have ended
  Dims extents = {};  // of these variables
  Dims at = {};
  const PrimExpr* guard = nullptr;  // null: always
  const Term* value = nullptr;
  OpId op{};                   // of a reduction of what was there and of the value; none: the value replaces it
  bool uses_previous = false;  // the value has reads of what was there
};

struct LoopMemory {
  Dims dims = {};
  const Term* base = nullptr;  // the contents before the writes
  std::vector<LoopWrite> writes = {};
  std::string unknown = {};  // why the contents are not known; empty: they are
};

class LoopMemories {
 public:
  explicit LoopMemories(TermBuilder& terms) : terms_(terms), indices_(terms.indices()) {}

  void Add(const tir::Var* data, LoopMemory memory) { memories_[data] = std::move(memory); }
  LoopMemory* Find(const tir::Var* data) { return memories_.Find(data); }
  // Contents that nothing is known about.
  const Term* Unknown(DataType dtype);

  // Returns whether the term is computed from such contents.
  static bool UsesUnknown(const Term* term);

  // The element at the indices; null if it is not known, for a reason that is set.
  const Term* ElementAt(const LoopMemory& memory, const Dims& at, std::string& reason);

  // The states that memory has at the begin of an iteration.
  struct Frame {
    struct Entry {
      const tir::Var* data;
      LoopMemory outside;
      const Term* state;
    };
    std::vector<Entry> entries = {};
  };
  Frame Enter(const std::vector<const tir::Var*>& written);
  struct Range {
    const PrimExpr* var;
    const PrimExpr* extent;
    bool is_concurrent;
    bool has_threads = false;
  };
  // Returns why iterations that run at the same time may be in conflict; empty if they are not.
  std::string Leave(Frame frame, const Range& loop);

 private:
  struct Match {
    bool is_possible = false;
    const PrimExpr* condition = nullptr;  // null: always
    SymVarMap values = {};
  };
  // The values of the variables for which the write is to these indices; nothing if they are not known.
  std::optional<Match> FindMatch(const LoopWrite& write, const Dims& at);
  bool AddCondition(const PrimExpr* condition, Match& match);
  // Appends the writes of all iterations; returns why that is not possible.
  std::string Append(const Frame& frame, const Frame::Entry& entry, LoopMemory& inside, const Range& loop,
                     LoopMemory& result);
  std::string AppendMap(const Frame& frame, const Frame::Entry& entry, LoopMemory& inside, const Range& loop,
                        LoopMemory& result);
  std::string AppendReduction(const Frame& frame, LoopMemory& inside, const Range& loop, LoopMemory& result);
  std::string AppendLast(const Frame& frame, const LoopMemory& inside, const Range& loop, LoopMemory& result,
                         bool& is_last);
  bool AreOrdered(const LoopWrite& a, const LoopWrite& b, const Range& loop, const Dims& dims);
  bool Mentions(const Term* term, const Frame& frame);
  bool Uses(const PrimExpr* expr, const PrimExpr* var);
  Dims PlacesOf(const Dims& dims);

  TermBuilder& terms_;
  IndexSpace& indices_;
  LookupMap<const tir::Var*, LoopMemory> memories_;
};

}  // namespace iropt::proof
