// The statements that instructions of Trainium consist of, and what the rules for them share.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "transform/tir/tiles/trn_indexer.h"
#include "transform/tir/tiles/trn_rules.h"

namespace iropt {

using PrimExprs = std::vector<const PrimExpr*>;

// Elements of a bank of psum for one partition, and the number of banks.
inline constexpr int64_t kPsumElements = 512;
inline constexpr int64_t kDefaultInstructionSize = 512;

class TrnBuilder {
 public:
  explicit TrnBuilder(const TrnContext& context)
      : workspace_(context.workspace), make_(context.workspace), call_(context.call) {}

  const arith::PrimBuilder& make() const { return make_; }
  const PrimExpr* Int(int64_t value) const { return make_.Int(value, DataType::Int(32)); }
  const tir::Var* Var(std::string_view name) const { return workspace_.NewPrimVar(name, DataType::Int(32)); }
  const PrimExpr* String(std::string_view text) const;

  // for var in range(extent); `dim` is the dimension of the instruction that the loop is, empty for a loop around it.
  const tir::Stmt* Loop(const tir::Var* var, int64_t extent, std::string_view dim, const tir::Stmt* body) const;
  // Loops around the body, the first one outermost.
  struct LoopSpec {
    const tir::Var* var;
    int64_t extent;
    std::string_view dim = {};
  };
  const tir::Stmt* Loops(std::initializer_list<LoopSpec> loops, const tir::Stmt* body) const;
  // Marks the statement as one instruction.
  const tir::Stmt* Instruction(const tir::Stmt* body) const;
  // T.nki.name(operands), if the guard, which may be null, holds.
  const tir::Stmt* Nki(std::string_view name, std::span<const PrimExpr* const> operands, const PrimExpr* guard) const;
  const tir::Stmt* Seq(std::initializer_list<const tir::Stmt*> stmts) const;
  const PrimExpr* Load(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices) const;
  Result<const PrimExpr*> Element(TrnIndexer& indexer, size_t region) const;

  // ---- The call
  Error Fail(std::string_view message) const;
  // The region that is an operand, with a number in the indexer.
  Result<size_t> AddRegion(TrnIndexer& indexer, size_t operand) const;
  // The keyword max_inst_size.
  Result<std::optional<int64_t>> MaxSize(std::optional<int64_t> otherwise) const;
  // The buffer of the workspace, which has at least these extents; those of psum after the banks.
  Result<const tir::Buffer*> Workspace(std::string_view name, std::initializer_list<int64_t> extents,
                                       std::string_view scope) const;

 private:
  iropt::Workspace& workspace_;
  const arith::PrimBuilder make_;
  const TileCall& call_;
};

// Fails unless the buffer of the region has a layout of Trainium, in sbuf or, if `psum`, in psum.
Status CheckTrnMemory(const tir::Buffer& buffer, bool psum, const TrnBuilder& build);
// The number of partitions of the region's buffer.
int64_t PartitionsOf(const tir::Buffer& buffer);

// An operand of an elementwise operation: a region, or a number.
struct TrnSource {
  std::optional<size_t> region = {};
  const PrimExpr* number = nullptr;
};
struct NaryInstruction {
  TrnInstruction instruction;
  std::vector<bool> is_scalar;  // by operand but the first one: it stays the same along the instruction, or is a number
  bool swapped = false;         // the first two operands
};
// The greatest instruction on regions that are broadcast to that of the result. May swap the first two sources.
// `dims`: the dimensions of the result that it may be on. `first_may_be_tensor`: the second source may change along it.
Result<NaryInstruction> FindNaryInstruction(size_t result, std::vector<TrnSource>& sources, TrnIndexer& indexer,
                                            const TrnContext& context, const std::optional<Dims>& dims = std::nullopt,
                                            bool first_may_be_tensor = true);
Result<TrnInstruction> FindUnaryInstruction(size_t result, size_t source, TrnIndexer& indexer,
                                            const TrnContext& context, const std::optional<Dims>& dims = std::nullopt);

}  // namespace iropt
