#include "transform/tir/copies/warp_accesses.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"
#include "iropt/support/lookup.h"
#include "transform/tir/copies/loop_nest.h"

namespace iropt {

namespace {

// More values of an index count as unknown.
constexpr int64_t kMaxValues = 64;
constexpr int64_t kMaxValue = int64_t{1} << 40;

// By variable, how many values it takes.
using Extents = LookupMap<const tir::Var*, int64_t>;

// The values 0, scale, ..., (extent - 1) * scale; extent * scale is at most kMaxValue.
struct Term {
  int64_t extent;
  int64_t scale;
};
constexpr Term kZero = {1, 1};

// Source: TVM 0.18's PatternCollector in src/tir/transforms/memhammer_lower_auto_copy.cc, after which a sum is its
// first term unless the second one continues it.
class TermCollector {
 public:
  explicit TermCollector(const Extents& extents) : extents_(extents) {}

  // The values of the index up to a constant; nothing if it is a constant.
  std::optional<Term> Collect(const PrimExpr* index) {
    if (const auto* var = As<tir::Var>(index)) {
      const auto* extent = extents_.Find(var);
      if (!extent || *extent <= 1) return kZero;
      return *extent <= kMaxValues ? Term{*extent, 1} : Fail();
    }
    if (const auto* cast = As<tir::Cast>(index)) return Collect(cast->value);
    if (const auto* binary = As<tir::BinaryExpr>(index)) return CollectBinary(*binary);
    tir::ForEachVar(index, [this](const tir::Var* var) { failed |= extents_.contains(var); });
    return std::nullopt;
  }

  bool failed = false;

 private:
  std::optional<Term> CollectBinary(const tir::BinaryExpr& expr) {
    const std::optional<Term> a = Collect(expr.a);
    const std::optional<Term> b = Collect(expr.b);
    if (a && b) return expr.kind == NodeKind::kAdd ? Sum(*a, *b) : Fail();
    const bool scales =
        expr.kind == NodeKind::kMul || expr.kind == NodeKind::kFloorDiv || expr.kind == NodeKind::kFloorMod;
    if (!scales || (!a && !b)) return a ? a : b;
    const int64_t* operand = arith::AsInt(expr.b);
    return a && operand && *operand > 0 ? Scale(expr.kind, *a, *operand) : Fail();
  }

  Term Fail() {
    failed = true;
    return kZero;
  }

  // The result ends where the first term does.
  static Term Sum(Term a, Term b) {
    if (a.extent == 1) return b;
    return b.extent * b.scale == a.scale ? Term{a.extent * b.extent, b.scale} : a;
  }

  Term Scale(NodeKind kind, Term term, int64_t operand) {
    if (term.extent == 1) return kZero;
    const int64_t end = term.extent * term.scale;
    if (kind == NodeKind::kMul) return operand <= kMaxValue / end ? Term{term.extent, term.scale * operand} : Fail();
    if (kind == NodeKind::kFloorDiv) {
      if (term.scale >= operand) return term.scale % operand == 0 ? Term{term.extent, term.scale / operand} : Fail();
      if (end <= operand) return kZero;
      return end % operand == 0 ? Term{end / operand, 1} : Fail();
    }
    if (term.scale >= operand) return kZero;
    return operand % term.scale == 0 ? Term{std::min(operand / term.scale, term.extent), term.scale} : Fail();
  }

  const Extents& extents_;
};

std::vector<int64_t> ValuesOf(Term term) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < term.extent && term.extent <= kMaxValues; ++i) values.push_back(i * term.scale);
  return values;
}

WarpAccess AccessOf(std::span<const PrimExpr* const> indices, const Extents& extents) {
  TermCollector collector(extents);
  WarpAccess access;
  for (const PrimExpr* index : indices) {
    // Indices after one that is not understood are not looked at.
    const std::optional<Term> term = collector.failed ? std::nullopt : collector.Collect(index);
    access.push_back(term && !collector.failed ? ValuesOf(*term) : std::vector<int64_t>());
  }
  return access;
}

class AccessCollector : public tir::StmtExprVisitor {
 public:
  AccessCollector(const BlockCopy& copy, Workspace& workspace, AccessesByBuffer& accesses)
      : workspace_(workspace),
        accesses_(accesses),
        analyzer_(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny) {
    for (const tir::For* loop : copy.outer_loops) first_[loop->loop_var] = loop->min;
    int64_t threads = 1;
    for (size_t dim = 0; dim < copy.threads.size() && threads < kThreadsOfWarp; ++dim) {
      const int64_t extent = std::max<int64_t>(copy.threads[dim].value_or(1), 1);
      warp_[dim] = std::min(extent, kThreadsOfWarp / threads);
      threads = extent >= kThreadsOfWarp ? kThreadsOfWarp : threads * extent;
    }
  }

 protected:
  void VisitFor(const tir::For* loop) override {
    if (loop->for_kind == tir::ForKind::kThreadBinding) {
      const auto tag = std::ranges::find(kThreadTags, loop->thread_binding->thread_tag);
      extents_[loop->loop_var] = tag == kThreadTags.end() ? 1 : warp_[static_cast<size_t>(tag - kThreadTags.begin())];
      return StmtExprVisitor::VisitFor(loop);
    }
    first_[loop->loop_var] = loop->min;
    const tir::For* outer = vector_;
    if (loop->for_kind == tir::ForKind::kVectorized) vector_ = loop;
    StmtExprVisitor::VisitFor(loop);
    vector_ = outer;
  }

  void VisitBufferStore(const tir::BufferStore* store) override {
    Add(*store->buffer, store->indices);
    const int64_t* lanes = vector_ ? arith::AsInt(vector_->extent) : nullptr;
    if (lanes && IsShared(*store->buffer) && !store->indices.empty() && MayBeContiguous(store->indices.back())) {
      int64_t& unit = accesses_[store->buffer].padding_unit;
      unit = std::max(unit, *lanes);
    }
    StmtExprVisitor::VisitBufferStore(store);
  }

  void VisitBufferLoad(const tir::BufferLoad* load) override {
    Add(*load->buffer, load->indices);
    StmtExprVisitor::VisitBufferLoad(load);
  }

  // In blocks only the tiles of matrices count.
  void VisitBlock(const tir::Block* block) override {
    const auto* evaluate = As<tir::Evaluate>(block->body);
    const auto* call = evaluate ? As<tir::Call>(evaluate->value) : nullptr;
    const Op* op = call ? As<Op>(call->op) : nullptr;
    if (!op || !IsOneOf(*op, op::kTirTvmLoadMatrixSync, op::kTirTvmStoreMatrixSync)) return;
    for (const tir::MatchBufferRegion* match : block->match_buffers) {
      std::vector<const PrimExpr*> indices;
      for (const tir::Range* range : match->source->region) {
        const tir::Var* offset = workspace_.NewPrimVar("region", range->min->dtype);
        const int64_t* extent = arith::AsInt(range->extent);
        extents_[offset] = extent ? *extent : kMaxValue;
        indices.push_back(analyzer_.make().Add(range->min, offset));
      }
      Add(*match->source->buffer, indices);
    }
  }

 private:
  static bool IsShared(const tir::Buffer& buffer) {
    return StorageScope::Of(buffer.scope()).rank == StorageRank::kShared;
  }

  void Add(const tir::Buffer& buffer, std::span<const PrimExpr* const> indices) {
    if (!IsShared(buffer) || indices.empty() || indices.size() != buffer.shape.size()) return;
    std::vector<const PrimExpr*> first;
    for (const PrimExpr* index : indices)
      first.push_back(analyzer_.Simplify(tir::Substitute(index, first_, workspace_)));
    accesses_[&buffer].accesses.push_back(AccessOf(first, extents_));
  }

  // Returns whether neighboring lanes of a vector may be neighbors in memory.
  bool MayBeContiguous(const PrimExpr* index) {
    const tir::Var* lane = vector_->loop_var;
    const auto at = [&](int64_t value) {
      return tir::Substitute(index, {{lane, analyzer_.make().Const(value, lane->dtype)}}, workspace_);
    };
    const PrimExpr* begin = at(0);
    const PrimExpr* step = tir::Substitute(analyzer_.make().Sub(at(1), begin), first_, workspace_);
    return !analyzer_.CanProveNotEqual(step, analyzer_.make().Const(1, step->dtype));
  }

  Workspace& workspace_;
  AccessesByBuffer& accesses_;
  arith::Analyzer analyzer_;
  std::array<int64_t, 3> warp_ = {1, 1, 1};  // the threads of the warp
  tir::VarValues first_;                     // the variables of loops without threads
  Extents extents_;                          // those of loops over threads, and the offsets in tiles
  const tir::For* vector_ = nullptr;         // the innermost vectorized loop
};

}  // namespace

void CollectWarpAccesses(const tir::Stmt* stmt, const BlockCopy& copy, Workspace& workspace,
                         AccessesByBuffer& accesses) {
  AccessCollector(copy, workspace, accesses).VisitStmt(stmt);
}

}  // namespace iropt
