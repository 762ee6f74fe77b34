// Elementwise operations: T.nki.tensortensor, tensorscalar, activation, reciprocal, memset and affine_select.
//
//   T.tile.add(C[0:128, 0:512], A[0:128, 0:512], T.float32(3.0))
//   -->
//   for b_loop in range(1):
//       T.attr({"tensorized_nki_instruction": 1})
//       for p_loop in T.serial(128, annotations={"nki_dim": "P"}):
//           for f_loop in T.serial(512, annotations={"nki_dim": "F"}):
//               T.nki.tensorscalar(C[p_loop, f_loop], A[p_loop, f_loop], T.float32(3.0), "add", T.bool(False))
//
// Source: python/tvm/backend/trn/tile_primitive of TVM.
#include <algorithm>
#include <functional>
#include <iterator>

#include "iropt/ir/tir/substitute.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "transform/tir/tiles/trn_builder.h"

namespace iropt {

namespace {

struct NkiName {
  std::string_view operation, name;
};
constexpr NkiName kNkiNames[] = {{"add", "add"}, {"exp", "exp"},   {"maximum", "max"}, {"minimum", "min"},
                                 {"mul", "mul"}, {"sqrt", "sqrt"}, {"sub", "sub"}};

std::string_view NkiNameOf(std::string_view operation) {
  return std::ranges::find(kNkiNames, operation, &NkiName::operation)->name;
}

// The loops of an elementwise instruction on the region; `make_call` gives the instruction, once the indices follow
// from the loops.
Result<const tir::Stmt*> ElementwiseLoops(
    const TrnContext& context, TrnIndexer& indexer, size_t region, TrnInstruction instruction,
    const std::function<Result<const tir::Stmt*>(const tir::Var* p, const tir::Var* f)>& make_call) {
  const TrnBuilder build(context);
  IROPT_ASSIGN_OR_RETURN(const std::optional<int64_t> most, build.MaxSize(kDefaultInstructionSize));
  IROPT_RETURN_IF_ERROR(instruction.Limit(most));
  const int64_t partitions = PartitionsOf(*indexer.region(region).buffer);
  const tir::Var* b = build.Var("b_loop");
  const tir::Var* p = build.Var("p_loop");
  const tir::Var* f = build.Var("f_loop");
  IROPT_RETURN_IF_ERROR(indexer.Bind(region, p, partitions, 1, /*free=*/false));
  IROPT_RETURN_IF_ERROR(indexer.Bind(region, f, instruction.size, instruction.stride, /*free=*/true));
  IROPT_ASSIGN_OR_RETURN(const int64_t blocks, indexer.BindRest(region, b));
  IROPT_ASSIGN_OR_RETURN(const tir::Stmt* call, make_call(p, f));
  const tir::Stmt* inner = build.Loops({{p, partitions, "P"}, {f, instruction.size, "F"}}, call);
  return build.Loop(b, blocks, {}, build.Instruction(inner));
}

// Operand that the instruction adds: a region, or the buffer of the workspace that holds a number everywhere.
struct Bias {
  std::optional<size_t> region;
  const tir::Buffer* buffer = nullptr;
};

Result<const tir::Stmt*> ActivationLoops(const TrnContext& context, TrnIndexer& indexer, size_t result, size_t source,
                                         const Bias& bias, const PrimExpr* scale, const TrnInstruction& instruction) {
  return ElementwiseLoops(
      context, indexer, result, instruction, [&](const tir::Var* p, const tir::Var* f) -> Result<const tir::Stmt*> {
        const TrnBuilder build(context);
        IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer.Guard(result));
        IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build.Element(indexer, result));
        IROPT_ASSIGN_OR_RETURN(const PrimExpr* from, build.Element(indexer, source));
        const PrimExpr* added = nullptr;
        if (bias.region) {
          IROPT_ASSIGN_OR_RETURN(added, build.Element(indexer, *bias.region));
        } else {
          added = build.Load(bias.buffer, PrimExprs{p, f});
        }
        const PrimExprs operands = {to, from, build.String(NkiNameOf(context.call.name)), added, scale};
        return build.Nki("activation", operands, guard);
      });
}

}  // namespace

Result<const tir::Stmt*> LowerTrnBinary(const TrnContext& context) {
  const TrnBuilder build(context);
  const TileCall& call = context.call;
  if (call.operands.size() < 3) return build.Fail("expected a result and two operands");
  TrnIndexer indexer(context.analyzer, context.workspace);
  IROPT_ASSIGN_OR_RETURN(const size_t result, build.AddRegion(indexer, 0));
  std::vector<TrnSource> sources;
  for (size_t i = 1; i < 3; ++i) {
    if (Is<tir::FloatImm>(call.operands[i])) {
      sources.push_back({.number = call.operands[i]});
    } else {
      IROPT_ASSIGN_OR_RETURN(const size_t region, build.AddRegion(indexer, i));
      sources.push_back({.region = region});
    }
  }
  IROPT_ASSIGN_OR_RETURN(const NaryInstruction found, FindNaryInstruction(result, sources, indexer, context));
  const auto make_call = [&](const tir::Var*, const tir::Var*) -> Result<const tir::Stmt*> {
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer.Guard(result));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build.Element(indexer, result));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* first, build.Element(indexer, *sources[0].region));
    const PrimExpr* second = sources[1].number;
    if (!second) {
      IROPT_ASSIGN_OR_RETURN(second, build.Element(indexer, *sources[1].region));
    }
    PrimExprs operands = {to, first, second, build.String(NkiNameOf(call.name))};
    if (found.is_scalar[0]) operands.push_back(build.make().Bool(found.swapped));
    return build.Nki(found.is_scalar[0] ? "tensorscalar" : "tensortensor", operands, guard);
  };
  return ElementwiseLoops(context, indexer, result, found.instruction, make_call);
}

Result<const tir::Stmt*> LowerTrnUnary(const TrnContext& context) {
  const TrnBuilder build(context);
  const TileCall& call = context.call;
  const bool is_memset = call.name == "memset";
  if (call.operands.size() < 2) return build.Fail("expected a result and an operand");
  TrnIndexer indexer(context.analyzer, context.workspace);
  IROPT_ASSIGN_OR_RETURN(const size_t result, build.AddRegion(indexer, 0));
  size_t source = result;
  if (!is_memset) {
    IROPT_ASSIGN_OR_RETURN(source, build.AddRegion(indexer, 1));
  } else if (!Is<tir::FloatImm>(call.operands[1])) {
    return build.Fail("expected a floating point number");
  }
  IROPT_ASSIGN_OR_RETURN(const TrnInstruction instruction, FindUnaryInstruction(result, source, indexer, context));
  const auto make_call = [&](const tir::Var*, const tir::Var*) -> Result<const tir::Stmt*> {
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer.Guard(result));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build.Element(indexer, result));
    const PrimExpr* from = call.operands[1];
    if (!is_memset) {
      IROPT_ASSIGN_OR_RETURN(from, build.Element(indexer, source));
    }
    return build.Nki(call.name, PrimExprs{to, from}, guard);
  };
  return ElementwiseLoops(context, indexer, result, instruction, make_call);
}

// exp(source * scale + bias)
Result<const tir::Stmt*> LowerTrnActivation(const TrnContext& context) {
  const TrnBuilder build(context);
  const TileCall& call = context.call;
  const auto operand = [&](size_t i) -> const PrimExpr* {
    return i < call.operands.size() && !IsNone(call.operands[i]) ? call.operands[i] : nullptr;
  };
  TrnIndexer indexer(context.analyzer, context.workspace);
  IROPT_ASSIGN_OR_RETURN(const size_t result, build.AddRegion(indexer, 0));
  IROPT_ASSIGN_OR_RETURN(const size_t source, build.AddRegion(indexer, 1));
  const PrimExpr* scale = operand(3) ? operand(3) : build.make().Float(1.0, DataType::Float(32));
  Bias bias;
  TrnInstruction instruction;
  if (const PrimExpr* given = operand(2); given && !Is<tir::FloatImm>(given)) {
    IROPT_ASSIGN_OR_RETURN(bias.region, build.AddRegion(indexer, 2));
    std::vector<TrnSource> sources = {{.region = source}, {.region = bias.region}};
    IROPT_ASSIGN_OR_RETURN(NaryInstruction found,
                           FindNaryInstruction(result, sources, indexer, context, std::nullopt, false));
    instruction = std::move(found.instruction);
  } else {
    IROPT_ASSIGN_OR_RETURN(instruction, FindUnaryInstruction(result, source, indexer, context));
    IROPT_ASSIGN_OR_RETURN(const std::optional<int64_t> most, build.MaxSize(kDefaultInstructionSize));
    IROPT_RETURN_IF_ERROR(instruction.Limit(most));
    const int64_t partitions = PartitionsOf(*indexer.region(result).buffer);
    IROPT_ASSIGN_OR_RETURN(bias.buffer, build.Workspace("const_bias", {partitions, instruction.size}, "trn.sbuf"));
  }
  return ActivationLoops(context, indexer, result, source, bias, scale, instruction);
}

// The elements of a region where a condition on the indices holds, a number elsewhere.
Result<const tir::Stmt*> LowerTrnSelect(const TrnContext& context) {
  const TrnBuilder build(context);
  const TileCall& call = context.call;
  if (call.operands.size() < 4) return build.Fail("expected a result, two operands and a predicate");
  if (!Is<tir::FloatImm>(call.operands[2])) return build.Fail("the second operand must be a floating point number");
  TrnIndexer indexer(context.analyzer, context.workspace);
  IROPT_ASSIGN_OR_RETURN(const size_t result, build.AddRegion(indexer, 0));
  IROPT_ASSIGN_OR_RETURN(const size_t source, build.AddRegion(indexer, 1));
  IROPT_RETURN_IF_ERROR(CheckTrnMemory(*indexer.region(result).buffer, /*psum=*/false, build));
  IROPT_RETURN_IF_ERROR(CheckTrnMemory(*indexer.region(source).buffer, /*psum=*/false, build));
  IROPT_ASSIGN_OR_RETURN(const DimMap dims, indexer.ElementwiseDims(result, source));
  IROPT_RETURN_IF_ERROR(indexer.Link(result, source, dims));
  IROPT_ASSIGN_OR_RETURN(TrnInstruction instruction, indexer.Longest(result));
  IROPT_ASSIGN_OR_RETURN(instruction, indexer.Fit(instruction, result, source));
  instruction = indexer.OnOneDim(instruction, result);
  const auto make_call = [&](const tir::Var*, const tir::Var*) -> Result<const tir::Stmt*> {
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* guard, indexer.Guard(result));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* to, build.Element(indexer, result));
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* from, build.Element(indexer, source));
    IROPT_ASSIGN_OR_RETURN(const PrimExprs axes, indexer.Axes(result));
    const tir::Call* lambda = CallOf(call.operands[3], op::kTirLambdaArg);
    const PrimExpr* predicate = lambda && !lambda->args.empty() ? lambda->args[0] : nullptr;
    tir::VarValues values;
    for (const PrimExpr* axis : axes) {
      const auto* let = predicate ? As<tir::Let>(predicate) : nullptr;
      if (!let) return build.Fail("the predicate is not a function of the indices");
      values[let->var] = axis;
      predicate = let->body;
    }
    predicate = context.analyzer.Simplify(tir::Substitute(predicate, values, context.workspace));
    return build.Nki("affine_select", PrimExprs{to, predicate, from, call.operands[2]}, guard);
  };
  return ElementwiseLoops(context, indexer, result, instruction, make_call);
}

}  // namespace iropt
