// Copies: T.nki.load, store and tensor_copy, and matmul with the identity where partitions become free dimensions.
//
//   T.tile.copy(A_sbuf[0:128, 0:512], A[0:128, 0:512])
//   -->
//   for b_loop in range(1):
//       T.attr({"tensorized_nki_instruction": 1})
//       for p_loop in T.serial(128, annotations={"nki_dim": "P"}):
//           for f_loop in T.serial(512, annotations={"nki_dim": "F"}):
//               T.nki.load(A_sbuf[p_loop, f_loop], A[p_loop, f_loop])
//
// Source: python/tvm/backend/trn/tile_primitive/copy of TVM.
#include <fmt/format.h>

#include "transform/tir/tiles/trn_builder.h"

namespace iropt {

namespace {

class TrnCopier {
 public:
  explicit TrnCopier(const TrnContext& context)
      : context_(context), build_(context), indexer_(context.analyzer, context.workspace) {}

  Result<const tir::Stmt*> Lower() {
    IROPT_ASSIGN_OR_RETURN(from_, build_.AddRegion(indexer_, 1));
    IROPT_ASSIGN_OR_RETURN(to_, build_.AddRegion(indexer_, 0));
    IROPT_RETURN_IF_ERROR(CheckMemory(source()));
    IROPT_RETURN_IF_ERROR(CheckMemory(result()));
    if (IsGlobal(source()) && IsGlobal(result())) return build_.Fail("one side must be in sbuf or psum");
    IROPT_ASSIGN_OR_RETURN(const DimMap dims, indexer_.ElementwiseDims(from_, to_));
    IROPT_RETURN_IF_ERROR(indexer_.Link(from_, to_, dims));
    return indexer_.SamePartitions(from_, to_) ? Plain() : Transposing();
  }

 private:
  const tir::Buffer& source() const { return *indexer_.region(from_).buffer; }
  const tir::Buffer& result() const { return *indexer_.region(to_).buffer; }
  static bool IsGlobal(const tir::Buffer& buffer) { return buffer.scope() == "global"; }

  Status CheckMemory(const tir::Buffer& buffer) const {
    if (!IsGlobal(buffer)) return CheckTrnMemory(buffer, /*psum=*/true, build_);
    return buffer.layout ? Status() : build_.Fail(fmt::format("'{}' has no layout", buffer.name));
  }

  Result<const tir::Stmt*> Plain() {
    // The side that is on Trainium decides.
    const size_t inside = IsGlobal(source()) ? to_ : from_;
    const size_t other = inside == from_ ? to_ : from_;
    IROPT_ASSIGN_OR_RETURN(const TrnInstruction longest, indexer_.Longest(inside));
    IROPT_ASSIGN_OR_RETURN(TrnInstruction instruction, indexer_.Fit(longest, inside, other));
    const bool loads = IsGlobal(source());
    const bool stores = IsGlobal(result());
    if (!loads && !stores) {
      IROPT_ASSIGN_OR_RETURN(const std::optional<int64_t> most, build_.MaxSize(kDefaultInstructionSize));
      IROPT_RETURN_IF_ERROR(instruction.Limit(most));
    } else if (context_.call.Keyword("max_inst_size")) {
      return build_.Fail("max_inst_size is not for loads and stores");
    }
    const int64_t partitions = PartitionsOf(*indexer_.region(inside).buffer);
    IROPT_RETURN_IF_ERROR(indexer_.Bind(inside, p_, partitions, 1, /*free=*/false));
    IROPT_RETURN_IF_ERROR(indexer_.Bind(inside, f_, instruction.size, instruction.stride, /*free=*/true));
    IROPT_ASSIGN_OR_RETURN(const int64_t blocks, indexer_.BindRest(inside, b_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer_.Guard(to_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* from, build_.Element(indexer_, from_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build_.Element(indexer_, to_));
    const tir::Stmt* call = build_.Nki(loads ? "load" : stores ? "store" : "tensor_copy", PrimExprs{to, from}, guard);
    const tir::Stmt* inner = build_.Loops({{p_, partitions, "P"}, {f_, instruction.size, "F"}}, call);
    return build_.Loop(b_, blocks, {}, build_.Instruction(inner));
  }

  // Returns the number of products that a bank of psum holds.
  Result<int64_t> ProductsPerBank(const TrnInstruction& on_result, int64_t width) {
    if (result().scope() != "trn.sbuf") return int64_t{0};
    IROPT_ASSIGN_OR_RETURN(const TrnInstruction longest, indexer_.Longest(to_, std::nullopt, on_result.stride));
    const int64_t possible = longest.size / width;
    const int64_t most = kPsumElements / width;
    int64_t products = 1;
    if (possible < most) {
      products = possible;
    } else if (most > 0 && possible % most == 0) {
      products = most;
    }
    IROPT_RETURN_IF_ERROR(indexer_.Bind(to_, extend_, products, on_result.stride * on_result.size, /*free=*/true));
    return products;
  }

  Result<const tir::Stmt*> Transposing() {
    if (source().scope() == "trn.psum") return build_.Fail("a buffer in psum cannot be transposed");
    IROPT_ASSIGN_OR_RETURN(const auto found, indexer_.Transposed(to_, from_));
    const auto& [on_result, on_source] = found;
    const int64_t width = PartitionsOf(source());
    const int64_t height = PartitionsOf(result());
    IROPT_RETURN_IF_ERROR(indexer_.Bind(from_, row_, on_source.size, on_source.stride, /*free=*/true));
    IROPT_RETURN_IF_ERROR(
        indexer_.Bind(to_, column_, on_result.size, on_result.stride, /*free=*/true, /*propagate=*/false));
    IROPT_RETURN_IF_ERROR(indexer_.Bind(from_, p_, width, 1, /*free=*/false, /*propagate=*/false));
    IROPT_ASSIGN_OR_RETURN(const int64_t products, ProductsPerBank(on_result, width));
    IROPT_ASSIGN_OR_RETURN(const int64_t blocks, indexer_.BindRest(to_, b_));
    IROPT_ASSIGN_OR_RETURN(const tir::Buffer* identity, build_.Workspace("identity", {width, width}, "trn.sbuf"));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer_.Guard(from_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* from, build_.Element(indexer_, from_));
    const PrimExpr* one = build_.Load(identity, PrimExprs{p_, column_});
    const auto product = [&](const PrimExpr* to, const PrimExpr* condition) {
      const tir::Stmt* call = build_.Nki("matmul", PrimExprs{to, from, one, build_.make().Bool(true)}, condition);
      return build_.Instruction(
          build_.Loops({{p_, width, "P"}, {row_, height, "lhs_F"}, {column_, width, "rhs_F"}}, call));
    };
    if (result().scope() == "trn.psum") {
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build_.Element(indexer_, to_));
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* own_guard, indexer_.Guard(to_));
      if (own_guard) guard = guard ? build_.make().Binary(NodeKind::kAnd, guard, own_guard) : own_guard;
      return build_.Loop(b_, blocks, {}, product(to, guard));
    }
    IROPT_ASSIGN_OR_RETURN(const tir::Buffer* psum, build_.Workspace("acc_psum", {width, kPsumElements}, "trn.psum"));
    const PrimExpr* bank = build_.make().FloorMod(b_, psum->shape[0]);
    const PrimExpr* place = build_.make().Add(build_.make().Mul(extend_, build_.Int(width)), column_);
    const tir::Stmt* first =
        build_.Loop(extend_, products, {}, product(build_.Load(psum, PrimExprs{bank, row_, place}), guard));
    const tir::Var* p = build_.Var("p_loop");
    const tir::Var* f = build_.Var("f_loop");
    indexer_.SetValues(to_, {{row_, p},
                             {column_, build_.make().FloorMod(f, build_.Int(width))},
                             {extend_, build_.make().FloorDiv(f, build_.Int(width))}});
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* own_guard, indexer_.Guard(to_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build_.Element(indexer_, to_));
    const tir::Stmt* call =
        build_.Nki("tensor_copy", PrimExprs{to, build_.Load(psum, PrimExprs{bank, p, f})}, own_guard);
    const tir::Stmt* second = build_.Instruction(build_.Loops({{p, width, "P"}, {f, width * products, "F"}}, call));
    return build_.Loop(b_, blocks, {}, build_.Seq({first, second}));
  }

  const TrnContext& context_;
  const TrnBuilder build_;
  TrnIndexer indexer_;
  size_t from_ = 0, to_ = 0;
  const tir::Var* const b_ = build_.Var("b_loop");
  const tir::Var* const p_ = build_.Var("p_loop");
  const tir::Var* const f_ = build_.Var("f_loop");
  // Of a transposing copy: products in one bank, and the rows and columns of a product.
  const tir::Var* const extend_ = build_.Var("extend_b_loop");
  const tir::Var* const row_ = build_.Var("lhs_f_loop");
  const tir::Var* const column_ = build_.Var("rhs_f_loop");
};

}  // namespace

Result<const tir::Stmt*> LowerTrnCopy(const TrnContext& context) { return TrnCopier(context).Lower(); }

}  // namespace iropt
