// Matrix products: T.nki.matmul into psum, and a copy from there where the result is in sbuf.
//
//   T.tile.gemm(C_psum[0:128, 0:128], A[0:128, 0:128], B[0:128, 0:128], C_psum[0:128, 0:128], False, False, ...)
//   -->
//   for lhs_b_loop, rhs_b_loop, reduction_b_loop in T.grid(1, 1, 1):
//       T.attr({"tensorized_nki_instruction": 1})
//       for p_loop in T.serial(128, annotations={"nki_dim": "P"}):
//           for lhs_f_loop in T.serial(128, annotations={"nki_dim": "lhs_F"}):
//               for rhs_f_loop in T.serial(128, annotations={"nki_dim": "rhs_F"}):
//                   T.nki.matmul(C_psum[...], A[p_loop, lhs_f_loop], B[p_loop, rhs_f_loop], T.bool(True))
//
// Source: python/tvm/backend/trn/tile_primitive/gemm of TVM.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "iropt/ir/structural.h"
#include "transform/tir/tiles/trn_builder.h"

namespace iropt {

namespace {

bool IsTrue(const PrimExpr* e) { return arith::IsInt(e, 1); }

// Returns whether the number is this one, of any type.
bool IsNumber(const PrimExpr* e, double value) {
  if (const auto* number = As<tir::FloatImm>(e)) return number->value == value;
  const int64_t* integer = arith::AsInt(e);
  return integer && static_cast<double>(*integer) == value;
}

bool SameRegion(const TileRegion& a, const TileRegion& b) {
  return a.buffer == b.buffer && DeepEqual(a.mins, b.mins) && DeepEqual(a.extents, b.extents);
}

class TrnMultiplier {
 public:
  explicit TrnMultiplier(const TrnContext& context)
      : context_(context), build_(context), indexer_(context.analyzer, context.workspace) {}

  Result<const tir::Stmt*> Lower() {
    IROPT_RETURN_IF_ERROR(ReadOperands());
    IROPT_RETURN_IF_ERROR(FindInstruction());
    IROPT_RETURN_IF_ERROR(BindLoops());
    const tir::Buffer& result = *indexer_.region(c_.region).buffer;
    if (result.scope() == "trn.psum") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build_.Element(indexer_, c_.region));
      IROPT_ASSIGN_OR_RETURN(const tir::Stmt* product, Product(to));
      return build_.Loops({{lhs_b_, lhs_blocks_}, {rhs_b_, rhs_blocks_}, {step_, steps_}}, product);
    }
    IROPT_ASSIGN_OR_RETURN(const tir::Buffer* psum,
                           build_.Workspace("acc_psum", {partitions_, kPsumElements}, "trn.psum"));
    const arith::PrimBuilder& make = build_.make();
    const PrimExpr* block = make.Add(make.Mul(lhs_b_, build_.Int(rhs_blocks_)), rhs_b_);
    const PrimExpr* bank = make.FloorMod(block, psum->shape[0]);
    IROPT_ASSIGN_OR_RETURN(const tir::Stmt* product, Product(build_.Load(psum, PrimExprs{bank, lhs_f_, rhs_f_})));
    IROPT_ASSIGN_OR_RETURN(const tir::Stmt* copy, CopyFrom(psum, bank));
    return build_.Loops({{lhs_b_, lhs_blocks_}, {rhs_b_, rhs_blocks_}},
                        build_.Seq({build_.Loop(step_, steps_, {}, product), copy}));
  }

 private:
  // A matrix: its region, and the dimensions of partitions and of free elements.
  struct Matrix {
    size_t region = 0;
    size_t p = 0;
    size_t f = 0;
  };

  const PrimExpr* Extent(const Matrix& matrix, size_t dim) const { return indexer_.region(matrix.region).extents[dim]; }
  const tir::Buffer& BufferOf(const Matrix& matrix) const { return *indexer_.region(matrix.region).buffer; }

  Status ReadOperands() {
    const auto& operands = context_.call.operands;
    if (operands.size() < 8) return build_.Fail("expected three matrices, two flags and two factors");
    const auto d = AsTileRegion(operands[0]);
    const auto c = AsTileRegion(operands[3]);
    if (!d || !c || !SameRegion(*d, *c)) return build_.Fail("the matrix that is added must be the result");
    if (!IsNumber(operands[6], 1) || !IsNumber(operands[7], 0)) return build_.Fail("expected the factors 1 and 0");
    IROPT_ASSIGN_OR_RETURN(a_.region, build_.AddRegion(indexer_, 1));
    IROPT_ASSIGN_OR_RETURN(b_.region, build_.AddRegion(indexer_, 2));
    IROPT_ASSIGN_OR_RETURN(c_.region, build_.AddRegion(indexer_, 3));
    IROPT_RETURN_IF_ERROR(CheckTrnMemory(BufferOf(a_), /*psum=*/false, build_));
    IROPT_RETURN_IF_ERROR(CheckTrnMemory(BufferOf(b_), /*psum=*/false, build_));
    IROPT_RETURN_IF_ERROR(CheckTrnMemory(BufferOf(c_), /*psum=*/true, build_));
    partitions_ = PartitionsOf(BufferOf(a_));
    if (partitions_ != PartitionsOf(BufferOf(b_)) || BufferOf(a_).dtype != BufferOf(b_).dtype)
      return build_.Fail("the operands differ in type or in the number of partitions");
    IROPT_RETURN_IF_ERROR(FindDims(a_, /*partitions_first=*/IsTrue(operands[4])));
    IROPT_RETURN_IF_ERROR(FindDims(b_, /*partitions_first=*/!IsTrue(operands[5])));
    IROPT_RETURN_IF_ERROR(FindDims(c_, std::nullopt));
    if (c_.p > c_.f) std::swap(a_, b_);
    arith::Analyzer& analyzer = context_.analyzer;
    if (!analyzer.CanProveEqual(Extent(a_, a_.p), Extent(b_, b_.p)) ||
        !analyzer.CanProveEqual(Extent(a_, a_.f), Extent(c_, c_.p)) ||
        !analyzer.CanProveEqual(Extent(b_, b_.f), Extent(c_, c_.f)))
      return build_.Fail("the shapes of the matrices do not match");
    return {};
  }

  // `partitions_first`: whether the first dimension is that of partitions; nothing: as the layout says.
  Status FindDims(Matrix& matrix, std::optional<bool> partitions_first) {
    const TileRegion& region = indexer_.region(matrix.region);
    Dims dims;
    std::vector<int64_t> shape;
    for (size_t dim = 0; dim < region.extents.size(); ++dim) {
      const PrimExpr* extent = region.extents[dim];
      if (!context_.analyzer.CanProveEqual(extent, build_.make().Const(1, extent->dtype))) dims.push_back(dim);
      shape.push_back(*arith::AsInt(region.buffer->shape[static_cast<uint32_t>(dim)]));
    }
    if (dims.size() != 2) return build_.Fail(fmt::format("the region of '{}' is not a matrix", region.buffer->name));
    const Shard shard = *ShardOf(*region.buffer);
    const auto layout = Group(Canonical(shard), shape);
    if (!layout) return build_.Fail(fmt::format("the layout of '{}' does not follow its shape", region.buffer->name));
    const auto partitions_in = [&](size_t dim) {
      int64_t partitions = 1;
      for (size_t i = layout->begins[dim]; i < layout->begins[dim + 1]; ++i) {
        if (layout->shard[i].axis == "P") partitions *= layout->shard[i].extent;
      }
      return partitions;
    };
    const bool first = partitions_first.value_or(partitions_in(dims[0]) != 1);
    matrix.p = first ? dims[0] : dims[1];
    matrix.f = first ? dims[1] : dims[0];
    if (partitions_in(matrix.p) != SizeOn(layout->shard, "P") || partitions_in(matrix.f) != 1)
      return build_.Fail(
          fmt::format("dimension {} of '{}' must be that of all partitions", matrix.p, region.buffer->name));
    return {};
  }

  Status FindInstruction() {
    IROPT_RETURN_IF_ERROR(indexer_.Link(a_.region, b_.region, {{a_.p, b_.p}}));
    IROPT_RETURN_IF_ERROR(indexer_.Link(b_.region, c_.region, {{b_.f, c_.f}}));
    IROPT_RETURN_IF_ERROR(indexer_.Link(a_.region, c_.region, {{a_.f, c_.p}}));
    IROPT_ASSIGN_OR_RETURN(const TrnInstruction longest, indexer_.Longest(b_.region, Dims{b_.f}));
    IROPT_ASSIGN_OR_RETURN(instruction_, indexer_.Fit(longest, b_.region, c_.region, Dims{c_.f}));
    return instruction_.Limit(kDefaultInstructionSize);
  }

  Status BindLoops() {
    height_ = PartitionsOf(BufferOf(c_));
    IROPT_RETURN_IF_ERROR(indexer_.Bind(b_.region, rhs_f_, instruction_.size, instruction_.stride, /*free=*/true));
    IROPT_RETURN_IF_ERROR(indexer_.Bind(c_.region, lhs_f_, height_, 1, /*free=*/false));
    IROPT_RETURN_IF_ERROR(indexer_.Bind(a_.region, p_, partitions_, 1, /*free=*/false));
    IROPT_ASSIGN_OR_RETURN(steps_, indexer_.BindRest(a_.region, step_, Dims{a_.p}));
    IROPT_ASSIGN_OR_RETURN(lhs_blocks_, indexer_.BindRest(a_.region, lhs_b_, Dims{a_.f}));
    IROPT_ASSIGN_OR_RETURN(rhs_blocks_, indexer_.BindRest(b_.region, rhs_b_, Dims{b_.f}));
    return {};
  }

  Result<const tir::Stmt*> Product(const PrimExpr* to) {
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* lhs, build_.Element(indexer_, a_.region));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* rhs, build_.Element(indexer_, b_.region));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer_.Guard(a_.region));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* other, indexer_.Guard(b_.region));
    if (guard && other) guard = build_.make().Node(NodeKind::kAnd, guard, other);
    if (!guard) guard = other;
    const tir::Stmt* call = build_.Nki("matmul", PrimExprs{to, lhs, rhs, build_.make().Bool(true)}, guard);
    return build_.Instruction(
        build_.Loops({{p_, partitions_, "P"}, {lhs_f_, height_, "lhs_F"}, {rhs_f_, instruction_.size, "rhs_F"}}, call));
  }

  Result<const tir::Stmt*> CopyFrom(const tir::Buffer* psum, const PrimExpr* bank) {
    const tir::Var* lhs = build_.Var("lhs_f_loop");
    const tir::Var* rhs = build_.Var("rhs_f_loop");
    indexer_.SetValues(c_.region, {{lhs_f_, lhs}, {rhs_f_, rhs}});
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer_.Guard(c_.region));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build_.Element(indexer_, c_.region));
    const PrimExprs operands = {to, build_.Load(psum, PrimExprs{bank, lhs, rhs})};
    return build_.Instruction(
        build_.Loops({{lhs, height_, "P"}, {rhs, instruction_.size, "F"}}, build_.Nki("tensor_copy", operands, guard)));
  }

  const TrnContext& context_;
  const TrnBuilder build_;
  TrnIndexer indexer_;
  Matrix a_, b_, c_;
  TrnInstruction instruction_;
  int64_t partitions_ = 1, height_ = 1;
  int64_t steps_ = 1, lhs_blocks_ = 1, rhs_blocks_ = 1;
  const tir::Var* const lhs_b_ = build_.Var("lhs_b_loop");
  const tir::Var* const rhs_b_ = build_.Var("rhs_b_loop");
  const tir::Var* const step_ = build_.Var("reduction_b_loop");
  const tir::Var* const p_ = build_.Var("p_loop");
  const tir::Var* const lhs_f_ = build_.Var("lhs_f_loop");
  const tir::Var* const rhs_f_ = build_.Var("rhs_f_loop");
};

}  // namespace

Result<const tir::Stmt*> LowerTrnGemm(const TrnContext& context) { return TrnMultiplier(context).Lower(); }

}  // namespace iropt
