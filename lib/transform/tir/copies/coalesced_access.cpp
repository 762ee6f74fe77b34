#include "transform/tir/copies/coalesced_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "iropt/arith/analyzer.h"
#include "iropt/ir/tir/visitor.h"
#include "transform/tir/copies/loop_nest.h"

namespace iropt {

namespace {

struct FusedLoop {
  const tir::Var* var;
  int64_t extent;
  const tir::Stmt* body;
};

// The value that a variable of the dtype may take; beyond it, indices would wrap.
int64_t MaxValue(DataType dtype) {
  return dtype.bits < 64 ? (int64_t{1} << (dtype.bits - 1)) - 1 : std::numeric_limits<int64_t>::max();
}

Result<FusedLoop> FuseLoops(const tir::Stmt* stmt, Workspace& workspace) {
  const auto [loops, body] = LoopNestOf(stmt);
  if (loops.empty()) return CopyError("it must contain a nest of loops");
  std::string name(loops[0]->loop_var->name);
  DataType dtype = loops[0]->loop_var->dtype;
  int64_t extent = 1;
  for (const tir::For* loop : loops) {
    const int64_t* own = arith::AsInt(loop->extent);
    if (!own || *own < 1)
      return CopyError(fmt::format("the extent of the loop '{}' must be a positive constant", loop->loop_var->name));
    const auto product = arith::CheckedMul(extent, *own);
    if (!product) return CopyError("it has too many elements");
    extent = *product;
    if (loop != loops[0]) name += fmt::format("_{}", loop->loop_var->name);
    if (loop->loop_var->dtype.bits > dtype.bits) dtype = loop->loop_var->dtype;
  }
  const arith::PrimBuilder make(workspace);
  const tir::Var* fused = workspace.NewPrimVar(name + "_fused", dtype);
  const PrimExpr* rest = fused;
  tir::VarValues values;
  for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
    const tir::For& loop = **it;
    const PrimExpr* size = make.Const(*arith::AsInt(loop.extent), dtype);
    const PrimExpr* digit = make.Cast(loop.loop_var->dtype, make.FloorMod(rest, size));
    values[loop.loop_var] = make.Add(loop.min, digit);
    rest = make.FloorDiv(rest, size);
  }
  return FusedLoop{fused, extent, tir::Substitute(body, values, workspace)};
}

// The threads run through all elements: none of them may have elements of its own.
Status CheckThreads(const tir::Stmt* stmt, const BlockCopy& copy) {
  const tir::For* thread = nullptr;
  tir::PostOrderVisit(stmt, [&](const Node* node) {
    for (const tir::For* loop : copy.outer_loops) {
      if (node != loop->loop_var || arith::IsInt(loop->extent, 1) || !loop->thread_binding) continue;
      if (std::ranges::count(kThreadTags, loop->thread_binding->thread_tag) != 0) thread = loop;
    }
  });
  if (!thread) return {};
  return CopyError(fmt::format("what it copies must not depend on the loop '{}' over {}", thread->loop_var->name,
                               thread->thread_binding->thread_tag));
}

// A loop that replaces a part of another one.
struct LoopPart {
  int64_t extent;
  tir::ForKind kind;
  std::string_view thread;  // for kThreadBinding
};

// Outermost first. Nothing if there are too many elements for the dtype.
Result<std::vector<LoopPart>> PartsOf(const FusedLoop& loop, const BlockCopy& copy) {
  const auto vector_bits = arith::CheckedMul(std::max<int64_t>(copy.vector_bytes, 0), 8);
  if (!vector_bits) return CopyError("vector_bytes is too large");
  const int64_t lanes = std::max<int64_t>(1, *vector_bits / copy.data_bits());
  std::vector<LoopPart> parts = {{0, tir::ForKind::kSerial, {}}};
  std::optional<int64_t> round = lanes;  // the elements of all threads
  for (size_t dim = copy.threads.size(); dim-- > 0;) {
    const std::optional<int64_t> extent = copy.threads[dim];
    if (!extent) continue;
    if (*extent < 1) return CopyError(fmt::format("the extent of {} must be positive", kThreadTags[dim]));
    parts.push_back({*extent, tir::ForKind::kThreadBinding, kThreadTags[dim]});
    round = arith::CheckedMul(round.value_or(0), *extent);
    if (!round) break;
  }
  parts.push_back({lanes, tir::ForKind::kVectorized, {}});
  const auto padded = round ? arith::CheckedAdd(loop.extent, *round) : round;
  if (!padded || *padded > MaxValue(loop.var->dtype)) return CopyError("it has too many elements");
  parts[0].extent = (*padded - 1) / *round;
  return parts;
}

Result<const tir::Stmt*> SplitLoop(const FusedLoop& loop, const BlockCopy& copy, Workspace& workspace) {
  IROPT_ASSIGN_OR_RETURN(const std::vector<LoopPart> parts, PartsOf(loop, copy));
  const DataType dtype = loop.var->dtype;
  arith::Analyzer analyzer(arith::PrimBuilder(workspace), arith::Analyzer::SymVars::kAny);
  const arith::PrimBuilder& make = analyzer.make();
  const PrimExpr* zero = make.Const(0, dtype);
  const PrimExpr* value = zero;
  std::vector<const tir::For*> loops;
  for (const LoopPart& part : parts) {
    const std::string name = fmt::format("{}_{}", loop.var->name, loops.size());
    const tir::Var* var = workspace.NewPrimVar(name, dtype);
    const PrimExpr* extent = make.Const(part.extent, dtype);
    const tir::IterVar* thread = nullptr;
    if (!part.thread.empty()) {
      thread = workspace.New<tir::IterVar>(nullptr, workspace.NewPrimVar("", dtype), tir::IterVarType::kThreadIndex,
                                           part.thread);
    }
    value = make.Add(make.Mul(value, extent), var);
    analyzer.Bind(var, zero, extent);
    loops.push_back(workspace.New<tir::For>(var, zero, extent, part.kind, nullptr, thread, DictAttr::Empty()));
  }
  const tir::Stmt* body = tir::Substitute(loop.body, {{loop.var, value}}, workspace);
  const PrimExpr* in_range = make.Binary(NodeKind::kLT, value, make.Const(loop.extent, dtype));
  if (!analyzer.CanProve(in_range)) body = workspace.New<tir::IfThenElse>(in_range, body, nullptr);
  return WithLoops(loops, body, workspace);
}

}  // namespace

Result<const tir::Stmt*> CoalesceAccess(const tir::Stmt* nest, const BlockCopy& copy, Workspace& workspace) {
  IROPT_RETURN_IF_ERROR(CheckThreads(nest, copy));
  IROPT_ASSIGN_OR_RETURN(const FusedLoop fused, FuseLoops(nest, workspace));
  return SplitLoop(fused, copy, workspace);
}

}  // namespace iropt
