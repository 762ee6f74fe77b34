// What the loops of a PrimFunc compute, as terms: each element of a buffer as a function of its indices.
//
// A store in loops is a write for all values of their variables. The element at some indices is that of the last write
// whose indices are these: the variables are the inverse of the map from them to the indices. Within a loop, memory
// begins with an unknown state; when the loop ends, its writes must not depend on the state that other iterations have
// left, but for sums, products and extrema, which become reductions.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "semantics/proof/failures.h"
#include "semantics/proof/loop_memory.h"

namespace iropt::proof {

// The variables that stand for the sizes and numbers that PrimFuncs get, the same for both versions.
class LoopSymbols {
 public:
  const tir::Var* Get(size_t param, size_t dimension);

 private:
  std::vector<std::pair<std::pair<size_t, size_t>, const tir::Var*>> vars_;
};

// The dtype of the elements of a vector.
inline DataType ScalarType(DataType dtype) { return DataType::Make(dtype.code, dtype.bits, 1); }

class LoopEncoder {
 public:
  struct Outcome {
    std::vector<const Term*> buffers = {};  // what the buffers of the parameters have at the end
    std::vector<Dims> shapes = {};          // of these buffers
    FailureSet failures = {};
    std::string obstacle = {};
  };

  // Without `may_overflow`, indices of 32 bits do not overflow.
  LoopEncoder(TermBuilder& terms, LoopSymbols& symbols, bool may_overflow)
      : terms_(terms), indices_(terms.indices()), symbols_(symbols), may_overflow_(may_overflow) {}

  Outcome Encode(const PrimFunc& function);

 private:
  void BindParams(const PrimFunc& function);
  void CheckValues(const LoopMemory& memory);
  // ---- Statements
  void Visit(const tir::Stmt* stmt);
  void VisitFor(const tir::For& loop);
  void VisitLoop(const LoopMemories::Range& loop, const std::vector<const tir::Var*>& written,
                 FunctionRef<void()> body);
  void VisitAttr(const tir::AttrStmt& attr);
  void VisitBlock(const tir::BlockRealize& realize);
  void VisitIf(const tir::IfThenElse& branch);
  void VisitLet(const tir::LetStmt& let);
  void VisitStore(const tir::BufferStore& store);
  void VisitLane(const tir::BufferStore& store);
  void VisitGuarded(const PrimExpr* condition, const tir::Stmt* body);
  void Declare(const tir::Var* data, DataType dtype, List<const PrimExpr*> shape);
  void DeclareShared(const tir::IterVar* axis, const tir::Stmt* body);
  // The operator and the other operand if the value is a sum, a product or an extremum with what was there before.
  std::pair<OpId, const PrimExpr*> FindUpdate(const tir::BufferStore& store);
  bool IsSameElement(const PrimExpr* expr, const tir::BufferStore& store);

  // ---- Expressions
  const Term* Encode(const PrimExpr* expr);
  const Term* EncodeBinary(const tir::BinaryExpr& binary);
  const Term* EncodeLogic(const tir::BinaryExpr& binary);
  // The value of what is only computed where a condition, which has this value, holds or does not.
  const Term* EncodeWhere(const PrimExpr* condition, const Term* value, bool holds, const PrimExpr* expr);
  const Term* EncodeChoice(const PrimExpr* condition, const PrimExpr* a, const PrimExpr* b, DataType dtype);
  const Term* EncodeCall(const tir::Call& call);
  const Term* EncodeCast(const tir::Cast& cast);
  const Term* Load(const tir::Buffer& buffer, List<const PrimExpr*> indices);
  // The value of an operator that no law is known about.
  const Term* Named(std::string text, std::vector<const Term*> args, DataType dtype);
  // The integer as one of indices and sizes, with 64 bits; null if it is computed from elements.
  const PrimExpr* Index(const PrimExpr* expr);
  const PrimExpr* IndexOfBinary(const tir::BinaryExpr& binary);
  const PrimExpr* Fitting(const PrimExpr* value, DataType dtype);
  // The indices in the dimensions of the memory; nothing if they are not known.
  std::optional<Dims> Places(const tir::Buffer& buffer, List<const PrimExpr*> indices, const LoopMemory& memory);
  // An integer of 64 bits: the sum of an index and of a term, which may be null.
  struct Linear {
    const PrimExpr* index;
    const Term* rest;
  };
  Linear Sum(const PrimExpr* expr);
  const Term* Times(const Term* term, const PrimExpr* factor);
  // The element of a parameter at indices that are computed from elements.
  const Term* LoadComputed(const tir::Buffer& buffer, List<const PrimExpr*> indices, const LoopMemory& memory);
  void CheckBounds(const Dims& at, const Dims& dims, std::string_view what);
  // The same for indices in the shape of the buffer, but for what the place in memory tells.
  void CheckView(const tir::Buffer& buffer, List<const PrimExpr*> indices, const LoopMemory& memory,
                 std::string_view what);
  // What may fail under the present conditions.
  void MayFail(std::string text, const Term* term, const Dims& indices);

  const Term* Fail(std::string reason);

  TermBuilder& terms_;
  IndexSpace& indices_;
  LoopSymbols& symbols_;
  const bool may_overflow_;
  LoopMemories memories_{terms_};
  LookupMap<const tir::Var*, const PrimExpr*> ints_;
  LookupMap<const tir::Var*, const Term*> values_;
  LookupSet<const tir::Var*> shared_;  // memory of blocks of threads
  const PrimExpr* guard_ = nullptr;
  const PrimExpr* runs_ = nullptr;       // that the loops around have iterations
  std::vector<const Term*> conditions_;  // that depend on elements
  struct Lane {
    const PrimExpr* index = nullptr;
    int num_lanes = 1;
  };
  Lane lane_;  // of the vectors in the present store
  // A variable of a statement: how many stores there were before, and the loop that it is in.
  struct LetValue {
    const PrimExpr* value;
    size_t num_stores;
    size_t loop;
  };
  LookupMap<const tir::Var*, LetValue> lets_;
  LookupMap<const tir::Var*, size_t> last_stores_;
  size_t num_stores_ = 0;
  std::vector<const tir::Var*> declared_;  // outside of loops
  size_t num_loops_ = 0;
  size_t open_loop_ = 0;  // the number of the innermost one, from 1 on
  FailureSet failures_;
  std::string obstacle_;
};

}  // namespace iropt::proof
