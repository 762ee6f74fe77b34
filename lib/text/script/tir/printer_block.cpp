// Loops and blocks.
#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/visitor.h"
#include "printer.h"
#include "text/script/attr_text.h"

namespace iropt::text {

// ---- Loops

// Adds the loops that T.grid can stand for: plain ones from 0 that directly follow each other and do not depend on each
// other.
void TirHeadPrinter::AddGrid(const tir::For* loop, Loops& grid) {
  for (const tir::For* l = loop; l; l = As<tir::For>(l->body)) {
    if (l->for_kind != tir::ForKind::kSerial || !arith::IsInt(l->min, 0) || l->annotations->size() || l->step) break;
    const auto is_of_grid = [&](const tir::Var* var) {
      return std::ranges::any_of(grid, [&](const tir::For* outer) { return outer->loop_var == var; });
    };
    if (tir::UsesVar(l->extent, is_of_grid)) break;
    grid.push_back(l);
  }
}

void TirHeadPrinter::PrintLoopHeads(const tir::For* loop, Loops& loops) {
  AddGrid(loop, loops);
  if (loops.size() > 1) {
    for (size_t i = 0; i < loops.size(); ++i) {
      if (i) out_.Append(", ");
      PrintMarked(loops[i], [&] { out_.Append(names_.Define(loops[i]->loop_var)); });
    }
    out_.Append(" in T.grid(");
    for (size_t i = 0; i < loops.size(); ++i) {
      if (i) out_.Append(", ");
      prim_.Print(loops[i]->extent);
    }
    out_.Append("):");
  } else {
    loops.clear();
    loops.push_back(loop);
    PrintMarked(loop, [&] { PrintLoopHead(loop); });
    out_.Append(':');
  }
  for (const tir::For* l : loops) {
    const uint32_t id = l->loop_var->id;
    if (id >= loops_.size()) loops_.resize(std::max<size_t>(id + 1, loops_.size() * 2));
    loops_[id] = l;
  }
}

void TirHeadPrinter::LeaveLoops(const Loops& loops) {
  for (const tir::For* loop : loops) loops_[loop->loop_var->id] = nullptr;
}

void TirStmtPrinter::PrintFor(const tir::For* loop) {
  BeginLine();
  out_.Append("for ");
  ++context_.indent;
  // Declarations for the head go before this line, not into the body.
  Push(loop, false);
  Loops loops;
  PrintLoopHeads(loop, loops);
  top().visible = true;
  PrintBody(loops.back()->body);
  LeaveLoops(loops);
  Pop();
  --context_.indent;
}

// i in range(...)
void TirHeadPrinter::PrintLoopHead(const tir::For* loop) {
  static constexpr std::string_view kFunctions[] = {"T.serial(", "T.parallel(", "T.vectorized(", "T.unroll(",
                                                    "T.thread_binding("};
  out_.Append(names_.Define(loop->loop_var));
  out_.Append(" in ");
  const bool annotated = loop->annotations->size() > 0;
  const bool plain = loop->for_kind == tir::ForKind::kSerial && !annotated;
  out_.Append(plain ? "range(" : kFunctions[static_cast<size_t>(loop->for_kind)]);
  if (arith::IsInt(loop->min, 0) && !loop->step) {
    prim_.Print(loop->extent);
  } else {
    prim_.Print(loop->min);
    out_.Append(", ");
    prim_.PrintEnd(loop->min, loop->extent);
  }
  if (loop->for_kind == tir::ForKind::kThreadBinding) {
    out_.Append(", thread=");
    PrintString(loop->thread_binding ? loop->thread_binding->thread_tag : "", out_);
  }
  PrintLoopAnnotations(*loop->annotations);
  if (loop->step) {
    out_.Append(plain ? ", " : ", step=");
    prim_.Print(loop->step);
  }
  out_.Append(')');
}

// From 0.25 on, the annotations of unrolling have a keyword of their own.
void TirHeadPrinter::PrintLoopAnnotations(const DictAttr& annotations) {
  if (annotations.size() != 1 || !context_.Since(TextVersion::kV0_25)) return PrintAnnotations(&annotations);
  if (annotations.keys[0] == attr::kDisableUnroll) return out_.Append(", unroll=False");
  if (annotations.keys[0] != attr::kPragmaUnroll) return PrintAnnotations(&annotations);
  // Before 0.27, whatever the value is.
  if (!context_.Since(TextVersion::kV0_27)) return out_.Append(", unroll=True");
  out_.Append(", unroll=");
  PrintAttr(annotations.values[0], context_, ScriptDialect::kTir, this);
}

// ---- Blocks

// Returns whether the axis is a loop under another name, over the same domain.
bool TirHeadPrinter::IsRemapped(const tir::IterVar* iter_var, const PrimExpr* value) const {
  if (iter_var->iter_type != tir::IterVarType::kDataPar && iter_var->iter_type != tir::IterVarType::kCommReduce)
    return false;
  const auto* var = As<tir::Var>(value);
  if (!var || var->context_owned() || var->id >= loops_.size()) return false;
  const tir::For* loop = loops_[var->id];
  return loop && loop->loop_var == var && iter_var->dom && DeepEqual(loop->min, iter_var->dom->min) &&
         DeepEqual(loop->extent, iter_var->dom->extent);
}

void TirHeadPrinter::PrintAxes(const tir::Block* block, const tir::BlockRealize* realize) {
  const size_t n = block->iter_vars.size();
  for (size_t i = 0; i < n;) {
    size_t end = i;
    while (end < n && realize && end < realize->iter_values.size() &&
           IsRemapped(block->iter_vars[end], realize->iter_values[end]))
      ++end;
    if (end - i > 1) {
      PrintRemap(block, realize, i, end);
      i = end;
    } else {
      PrintAxis(block->iter_vars[i], realize && i < realize->iter_values.size() ? realize->iter_values[i] : nullptr);
      ++i;
    }
  }
}

void TirHeadPrinter::PrintAxis(const tir::IterVar* iter_var, const PrimExpr* value) {
  BeginLine();
  out_.Append(names_.Define(iter_var->var));
  switch (iter_var->iter_type) {
    case tir::IterVarType::kDataPar: out_.Append(" = T.axis.spatial("); break;
    case tir::IterVarType::kCommReduce: out_.Append(" = T.axis.reduce("); break;
    case tir::IterVarType::kOrdered: out_.Append(" = T.axis.scan("); break;
    default: out_.Append(" = T.axis.opaque("); break;
  }
  if (!iter_var->dom) {
    out_.Append("None");
  } else if (arith::IsInt(iter_var->dom->min, 0)) {
    prim_.Print(iter_var->dom->extent);
  } else {
    out_.Append('(');
    prim_.Print(iter_var->dom->min);
    out_.Append(", ");
    prim_.PrintEnd(iter_var->dom->min, iter_var->dom->extent);
    out_.Append(')');
  }
  if (value) {
    out_.Append(", ");
    prim_.Print(value);
  }
  // Without a dtype, the reader makes an axis of int32.
  if (iter_var->var->dtype.bits < 32) {
    out_.Append(", dtype=");
    prim_.PrintDType(iter_var->var->dtype);
  }
  out_.Append(')');
}

// vi, vj = T.axis.remap("SR", [i, j])
void TirHeadPrinter::PrintRemap(const tir::Block* block, const tir::BlockRealize* realize, size_t begin, size_t end) {
  BeginLine();
  for (size_t i = begin; i < end; ++i) {
    if (i > begin) out_.Append(", ");
    out_.Append(names_.Define(block->iter_vars[i]->var));
  }
  out_.Append(" = T.axis.remap(\"");
  for (size_t i = begin; i < end; ++i)
    out_.Append(block->iter_vars[i]->iter_type == tir::IterVarType::kDataPar ? 'S' : 'R');
  out_.Append("\", [");
  prim_.PrintItems(realize->iter_values.span().subspan(begin, end - begin));
  out_.Append("])");
}

void TirHeadPrinter::PrintRegions(std::string_view function, List<const tir::BufferRegion*> regions) {
  BeginLine();
  out_.Append(function);
  for (uint32_t i = 0; i < regions.size(); ++i) {
    if (i) out_.Append(", ");
    prim_.PrintRegion(regions[i]);
  }
  out_.Append(')');
}

void TirHeadPrinter::PrintBlockBuffer(const tir::Buffer* buffer) {
  PrintBufferLine(
      buffer, context_.Since(TextVersion::kV0_24) ? "sblock_alloc_buffer" : "alloc_buffer", Introduces::kData, [] {},
      [] {});
}

// `realize` is null for a block that stands for itself.
void TirStmtPrinter::PrintBlock(const tir::Block* block, const tir::BlockRealize* realize) {
  BeginLine();
  out_.Append("with ");
  PrintMarked(block, [&] {
    out_.Append(context_.Since(TextVersion::kV0_24) ? "T.sblock(" : "T.block(");
    PrintString(block->name_hint, out_);
    out_.Append(realize ? ")" : ", no_realize=True)");
  });
  out_.Append(':');
  ++context_.indent;
  Push(block);
  PrintAxes(block, realize);
  if (realize && !arith::IsInt(realize->predicate, 1)) {
    BeginLine();
    out_.Append("T.where(");
    prim_.Print(realize->predicate);
    out_.Append(')');
  }
  PrintRegions("T.reads(", block->reads);
  PrintRegions("T.writes(", block->writes);
  if (block->annotations->size()) {
    BeginLine();
    out_.Append(context_.Since(TextVersion::kV0_24) ? "T.sblock_attr(" : "T.block_attr(");
    PrintAttr(block->annotations, context_, ScriptDialect::kTir, this);
    out_.Append(')');
  }
  for (const tir::Buffer* buffer : block->alloc_buffers) PrintBlockBuffer(buffer);
  for (const tir::MatchBufferRegion* match : block->match_buffers) {
    const auto source = [&] {
      prim_.PrintRegion(match->source);
      out_.Append(", ");
    };
    PrintBufferLine(match->buffer, "match_buffer", Introduces::kAll, source, [] {});
  }
  if (block->init) {
    BeginLine();
    out_.Append("with T.init():");
    PrintIndented(block->init, block->init);
  }
  PrintBody(block->body);
  Pop();
  --context_.indent;
}

}  // namespace iropt::text
