// Reductions: T.nki.tensorreduce, in two stages if one instruction does not take all elements.
//
//   T.tile.sum(B[0:128, 0:4], A[0:128, 0:4, 0:512], [-1], False)
//   -->
//   for b_loop in range(4):
//       T.attr({"tensorized_nki_instruction": 1})
//       for p_loop in T.serial(128, annotations={"nki_dim": "P"}):
//           for f_loop in T.serial(512, annotations={"nki_dim": "F"}):
//               T.nki.tensorreduce(B[p_loop, b_loop], A[p_loop, b_loop * 512 + f_loop], "add", T.bool(False), -1)
//
// Source: python/tvm/backend/trn/tile_primitive/reduction of TVM.
#include "transform/tir/tiles/trn_builder.h"

namespace iropt {

namespace {

class TrnReducer {
 public:
  explicit TrnReducer(const TrnContext& context)
      : context_(context), build_(context), indexer_(context.analyzer, context.workspace) {}

  Result<const tir::Stmt*> Lower() {
    const TileCall& call = context_.call;
    IROPT_RETURN_IF_ERROR(FindOperation());
    IROPT_ASSIGN_OR_RETURN(source_, build_.AddRegion(indexer_, 1));
    IROPT_ASSIGN_OR_RETURN(result_, build_.AddRegion(indexer_, 0));
    const tir::Buffer& from = *indexer_.region(source_).buffer;
    const tir::Buffer& to = *indexer_.region(result_).buffer;
    IROPT_RETURN_IF_ERROR(CheckTrnMemory(from, /*psum=*/true, build_));
    IROPT_RETURN_IF_ERROR(CheckTrnMemory(to, /*psum=*/false, build_));
    partitions_ = PartitionsOf(from);
    if (partitions_ != PartitionsOf(to)) return build_.Fail("the buffers differ in the number of partitions");
    const auto axes = call.operands.size() > 2 ? AsIntegers(call.operands[2]) : std::nullopt;
    if (!axes) return build_.Fail("the axes are not a list of integers");
    const auto rank = static_cast<int64_t>(from.shape.size());
    Dims reduced;
    for (const int64_t axis : *axes) {
      if (axis < -rank || axis >= rank) return build_.Fail("an axis is out of range");
      reduced.push_back(static_cast<size_t>(axis < 0 ? axis + rank : axis));
    }
    IROPT_ASSIGN_OR_RETURN(const DimMap dims, indexer_.ReducedDims(source_, result_, reduced));
    IROPT_RETURN_IF_ERROR(indexer_.Link(source_, result_, dims));
    IROPT_ASSIGN_OR_RETURN(instruction_, indexer_.Longest(source_, reduced));
    IROPT_ASSIGN_OR_RETURN(const std::optional<int64_t> most, build_.MaxSize(std::nullopt));
    IROPT_RETURN_IF_ERROR(instruction_.Limit(most));
    if (instruction_.size <= 1) return build_.Fail("an instruction would reduce a single element");
    IROPT_RETURN_IF_ERROR(indexer_.Bind(source_, f_, instruction_.size, instruction_.stride, /*free=*/true));
    IROPT_RETURN_IF_ERROR(indexer_.Bind(source_, p_, partitions_, 1, /*free=*/false));
    IROPT_ASSIGN_OR_RETURN(steps_, indexer_.BindRest(source_, rb_, reduced));
    IROPT_ASSIGN_OR_RETURN(blocks_, indexer_.BindRest(source_, b_));
    return steps_ == 1 ? OneStage() : TwoStages();
  }

 private:
  // "reduce_negate" has the operation after the other operands.
  Status FindOperation() {
    const TileCall& call = context_.call;
    std::string_view name = call.name;
    negate_ = name == "reduce_negate";
    if (negate_) {
      const auto* given = call.operands.size() > 4 ? As<tir::StringImm>(call.operands[4]) : nullptr;
      name = given ? given->value.substr(given->value.rfind('.') + 1) : std::string_view();
    }
    if (name != "sum" && name != "max" && name != "min") return build_.Fail("expected sum, max or min");
    operation_ = name == "sum" ? "add" : name;
    if (call.operands.size() > 3 && !IsNone(call.operands[3]) && !arith::IsInt(call.operands[3], 0))
      return build_.Fail("a reduction cannot add to its result");
    return {};
  }

  const tir::Stmt* Reduce(const PrimExpr* to, const PrimExpr* from, bool negate, const PrimExpr* guard) const {
    const PrimExprs operands = {to, from, build_.String(operation_), build_.make().Bool(negate), build_.Int(-1)};
    return build_.Nki("tensorreduce", operands, guard);
  }

  Result<const tir::Stmt*> OneStage() {
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer_.Guard(source_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* from, build_.Element(indexer_, source_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build_.Element(indexer_, result_));
    const tir::Stmt* inner =
        build_.Loops({{p_, partitions_, "P"}, {f_, instruction_.size, "F"}}, Reduce(to, from, negate_, guard));
    return build_.Loop(b_, blocks_, {}, build_.Instruction(inner));
  }

  // The steps go to a buffer of the workspace, which is reduced then.
  Result<const tir::Stmt*> TwoStages() {
    IROPT_ASSIGN_OR_RETURN(const tir::Buffer* partial,
                           build_.Workspace("partial_reduce", {partitions_, steps_}, "trn.sbuf"));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer_.Guard(source_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* from, build_.Element(indexer_, source_));
    const tir::Stmt* reduce = Reduce(build_.Load(partial, PrimExprs{p_, rb_}), from, /*negate=*/false, guard);
    const tir::Stmt* inner = build_.Loops({{p_, partitions_, "P"}, {f_, instruction_.size, "F"}}, reduce);
    const tir::Stmt* first = build_.Loop(rb_, steps_, {}, build_.Instruction(inner));
    const tir::Var* p = build_.Var("p_loop");
    const tir::Var* f = build_.Var("f_loop");
    indexer_.SetValues(source_, {{p_, p}, {f_, build_.Int(0)}, {rb_, f}});
    indexer_.SetValues(result_, {{p_, p}});
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* last_guard, indexer_.Guard(source_));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build_.Element(indexer_, result_));
    const tir::Stmt* second =
        build_.Instruction(build_.Loops({{p, partitions_, "P"}, {f, steps_, "F"}},
                                        Reduce(to, build_.Load(partial, PrimExprs{p, f}), negate_, last_guard)));
    return build_.Loop(b_, blocks_, {}, build_.Seq({first, second}));
  }

  const TrnContext& context_;
  const TrnBuilder build_;
  TrnIndexer indexer_;
  size_t source_ = 0, result_ = 0;
  int64_t partitions_ = 1;
  TrnInstruction instruction_;
  std::string_view operation_;
  bool negate_ = false;
  // The variables of the loops over blocks, steps of the reduction, partitions and elements.
  const tir::Var* const b_ = build_.Var("b_loop");
  const tir::Var* const rb_ = build_.Var("reduction_b_loop");
  const tir::Var* const p_ = build_.Var("p_loop");
  const tir::Var* const f_ = build_.Var("f_loop");
  int64_t blocks_ = 1, steps_ = 1;
};

}  // namespace

Result<const tir::Stmt*> LowerTrnReduction(const TrnContext& context) { return TrnReducer(context).Lower(); }

}  // namespace iropt
