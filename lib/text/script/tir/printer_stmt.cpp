// Statements of PrimFuncs.
#include "array.h"
#include "iropt/analysis/tir/thread_tags.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/thread_axis.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/large_uint.h"
#include "iropt/op/op_id.h"
#include "iropt/support/stack.h"
#include "printer.h"
#include "text/script/attr_text.h"

namespace iropt::text {
namespace {

// T.allocate and T.decl_buffer that together are one declaration.
const tir::DeclBuffer* DeclaredAllocation(const tir::Allocate* allocate) {
  const auto* decl = As<tir::DeclBuffer>(allocate->body);
  if (!decl || decl->buffer->data != allocate->buffer_var || decl->buffer->dtype != allocate->dtype ||
      !arith::IsInt(allocate->condition, 1) || allocate->annotations->size() ||
      allocate->extents.size() != decl->buffer->shape.size()) {
    return nullptr;
  }
  // The declaration makes a pointer to this.
  const DataType stored = allocate->dtype == DataType::Bool() ? DataType::Int(8) : allocate->dtype;
  const tir::PointerInfo* pointer = allocate->buffer_var->pointer;
  if (!pointer || pointer->elem != stored) return nullptr;
  for (uint32_t i = 0; i < allocate->extents.size(); ++i) {
    if (!DeepEqual(allocate->extents[i], decl->buffer->shape[i])) return nullptr;
  }
  return decl;
}

// The value of `return value`, or null.
const PrimExpr* ReturnedValue(const PrimExpr* e) {
  const tir::Call* call = CallOf(e, op::kTirRet);
  return call && call->args.size() == 1 ? call->args[0] : nullptr;
}

}  // namespace

void TirStmtPrinter::PrintBody(const tir::Stmt* body) {
  const auto* seq = As<tir::SeqStmt>(body);
  if (!seq) {
    top().concise = true;
    return PrintStmt(body);
  }
  // From 0.25 on, only the statement that is alone in its list may continue at its level.
  const bool may_continue = !context_.Since(TextVersion::kV0_25);
  for (uint32_t i = 0; i < seq->seq.size(); ++i) {
    top().concise = may_continue && i + 1 == seq->seq.size();
    PrintStmt(seq->seq[i]);
  }
}

void TirStmtPrinter::PrintStmt(const tir::Stmt* stmt) {
  const bool flat = context_.Since(TextVersion::kV0_24);
  const auto placed = context_.Placed(stmt);
  WithStack([&] {
    switch (stmt->kind) {
      case NodeKind::kLetStmt: {
        const auto* let = static_cast<const tir::LetStmt*>(stmt);
        return flat ? PrintBind(let) : PrintLet(let);
      }
      case NodeKind::kAttrStmt: return PrintAttrStmt(static_cast<const tir::AttrStmt*>(stmt));
      case NodeKind::kAssertStmt: {
        const auto* assertion = static_cast<const tir::AssertStmt*>(stmt);
        return flat ? PrintFlatAssert(assertion) : PrintAssert(assertion);
      }
      case NodeKind::kBufferStore: return PrintStore(static_cast<const tir::BufferStore*>(stmt));
      case NodeKind::kBufferRealize: {
        const auto* realize = static_cast<const tir::BufferRealize*>(stmt);
        return PrintRealize(realize, nullptr, realize, top().concise);
      }
      case NodeKind::kPrefetch: return PrintPrefetch(static_cast<const tir::Prefetch*>(stmt));
      case NodeKind::kAllocate: {
        const auto* allocate = static_cast<const tir::Allocate*>(stmt);
        return flat ? PrintAllocBuffer(allocate) : PrintAllocate(allocate);
      }
      case NodeKind::kAllocateConst: return PrintAllocateConst(static_cast<const tir::AllocateConst*>(stmt));
      case NodeKind::kDeclBuffer: {
        const auto* decl = static_cast<const tir::DeclBuffer*>(stmt);
        return flat ? PrintFlatDeclBuffer(decl) : PrintDeclBuffer(decl, Introduces::kNothing);
      }
      case NodeKind::kIfThenElse: return PrintIf(static_cast<const tir::IfThenElse*>(stmt));
      case NodeKind::kEvaluate: return PrintEvaluate(static_cast<const tir::Evaluate*>(stmt));
      case NodeKind::kFor: return PrintFor(static_cast<const tir::For*>(stmt));
      case NodeKind::kWhile: return PrintWhile(static_cast<const tir::While*>(stmt));
      case NodeKind::kBlockStmt: return PrintBlock(static_cast<const tir::Block*>(stmt), nullptr);
      case NodeKind::kBlockRealize: {
        const auto* realize = static_cast<const tir::BlockRealize*>(stmt);
        return PrintBlock(realize->block, realize);
      }
      default:
        Push(To<tir::SeqStmt>(stmt));
        PrintBody(stmt);
        Pop();
    }
  });
}

void TirStmtPrinter::PrintScoped(const Node* frame, const tir::Stmt* body, bool concise,
                                 FunctionRef<std::string_view()> define, FunctionRef<void()> head) {
  BeginLine();
  // Declarations for the head go before this line, not into the body.
  Push(frame, false);
  const std::string_view name = define();
  if (!concise) out_.Append("with ");
  if (concise && !name.empty()) {
    out_.Append(name);
    out_.Append(" = ");
  }
  head();
  if (!concise) {
    if (!name.empty()) {
      out_.Append(" as ");
      out_.Append(name);
    }
    out_.Append(':');
    top().indent = ++context_.indent;
  }
  top().visible = true;
  PrintBody(body);
  Pop();
  if (!concise) --context_.indent;
}

// After a colon.
void TirStmtPrinter::PrintIndented(const Node* frame, const tir::Stmt* body) {
  ++context_.indent;
  Push(frame);
  PrintBody(body);
  Pop();
  --context_.indent;
}

// x: T.int32 = value; without a value there is no type either.
void TirStmtPrinter::PrintLet(const tir::LetStmt* stmt) {
  const bool known = !names_.Find(stmt->var).empty();
  if (!known && top().concise) {
    BeginLine();
    Push(stmt, false);
    out_.Append(names_.Define(stmt->var));
    if (!stmt->var->dtype.is_void()) {
      out_.Append(": ");
      prim_.PrintVarType(stmt->var);
    }
    out_.Append(" = ");
    prim_.Print(stmt->value);
    top().visible = true;
    PrintBody(stmt->body);
    return Pop();
  }
  const auto define = [&] { return known ? std::string_view() : names_.Define(stmt->var); };
  PrintScoped(stmt, stmt->body, false, define, [&] {
    out_.Append("T.LetStmt(");
    prim_.Print(stmt->value);
    if (known) {
      out_.Append(", var=");
      prim_.PrintVar(stmt->var);
    } else if (stmt->var->pointer) {
      out_.Append(", ");
      prim_.PrintVarType(stmt->var);
    }
    out_.Append(')');
  });
}

void TirStmtPrinter::PrintAssert(const tir::AssertStmt* stmt) {
  const bool concise = top().concise;
  PrintScoped(
      stmt, stmt->body, concise, [] { return std::string_view(); },
      [&] {
        out_.Append(concise ? "assert " : "T.Assert(");
        prim_.Print(stmt->condition);
        out_.Append(", ");
        prim_.Print(stmt->message);
        if (!concise) out_.Append(')');
      });
}

void TirStmtPrinter::PrintAttrValue(const Node* node) {
  switch (GroupOf(node->kind)) {
    case NodeGroup::kPrim: return prim_.Print(static_cast<const PrimExpr*>(node));
    case NodeGroup::kAttr: return PrintAttr(static_cast<const Attr*>(node), context_, ScriptDialect::kTir, this);
    default: break;
  }
  if (const auto* buffer = As<tir::Buffer>(node)) return prim_.PrintBuffer(buffer);
  if (const auto* iter_var = As<tir::IterVar>(node)) return prim_.PrintIterVar(iter_var);
  if (const auto* region = As<tir::BufferRegion>(node)) return prim_.PrintRegion(region);
  prim_.PrintReducer(To<tir::CommReducer>(node));
}

namespace {

// The axis whose launch follows an attribute of its variable; null if there is none.
const tir::IterVar* FindLaunchBelow(const tir::AttrStmt& stmt) {
  for (const auto* below = As<tir::AttrStmt>(stmt.body); below; below = As<tir::AttrStmt>(below->body)) {
    const auto* axis = tir::ThreadAxisOf(*below);
    if (axis && axis->var == stmt.node) return axis;
  }
  return nullptr;
}

}  // namespace

void TirStmtPrinter::PrintAttrStmt(const tir::AttrStmt* stmt) {
  if (PrintTirxAttr(stmt)) return;
  const bool concise = top().concise;
  if (stmt->attr_key == attr::kRealizeScope) {
    const auto* realize = As<tir::BufferRealize>(stmt->body);
    if (realize && realize->buffer == stmt->node) return PrintRealize(realize, stmt->value, stmt, concise);
  }
  // T.launch_thread has no other key than that of the tag.
  if (const auto* thread = As<tir::IterVar>(stmt->node);
      thread && stmt->attr_key == (IsVirtualThreadTag(thread->thread_tag) ? attr::kVirtualThread : attr::kThreadExtent))
    return PrintLaunchThread(stmt, concise);
  if (context_.Since(TextVersion::kV0_25) && IsAttrOfNothing(stmt)) return PrintAttrDict(stmt);
  if (const tir::IterVar* axis = FindLaunchBelow(*stmt); axis && names_.Find(axis->var).empty()) DefineEnvThread(*axis);
  PrintScoped(
      stmt, stmt->body, concise, [] { return std::string_view(); },
      [&] {
        out_.Append("T.attr(");
        PrintAttrValue(stmt->node);
        out_.Append(", ");
        PrintString(stmt->attr_key, out_);
        out_.Append(", ");
        prim_.Print(stmt->value);
        out_.Append(')');
      });
}

// tx = T.env_thread("threadIdx.x"), before the current statement.
void TirStmtPrinter::DefineEnvThread(const tir::IterVar& thread) {
  const size_t owner = FrameFor(thread.var);
  const size_t position = names_.Mark();
  std::string line(names_.Define(thread.var));
  NoteLate(owner, position, thread.var, false);
  line += " = T.env_thread(";
  {
    OutputStream out(&line);
    PrintString(thread.thread_tag, out);
    if (const DataType dtype = thread.var->dtype; dtype != DataType::Int(32)) {
      out.Append(", ");
      PrintString(dtype.ToString(), out);
    }
  }
  line += ')';
  // The current list has not begun the line of this statement yet.
  if (owner + 1 == frames_.size()) {
    BeginLine();
    out_.Append(line);
  } else {
    Insert(frames_[owner], std::move(line));
  }
}

// bx = T.launch_thread("blockIdx.x", 8) if all uses of the variable are inside and it has the dtype of the extent, else
// with a variable made by T.env_thread.
void TirStmtPrinter::PrintLaunchThread(const tir::AttrStmt* stmt, bool concise) {
  const auto* thread = To<tir::IterVar>(stmt->node);
  bool defines = false;
  if (names_.Find(thread->var).empty()) {
    defines = scopes().Encloses(stmt, thread->var) && thread->var->dtype == stmt->value->dtype;
    if (!defines) DefineEnvThread(*thread);
  }
  const auto define = [&] { return defines ? names_.Define(thread->var) : std::string_view(); };
  PrintScoped(stmt, stmt->body, concise, define, [&] {
    out_.Append("T.launch_thread(");
    if (defines) {
      PrintString(thread->thread_tag, out_);
    } else {
      prim_.PrintVar(thread->var);
    }
    out_.Append(", ");
    prim_.Print(stmt->value);
    out_.Append(')');
  });
}

// T.realize(A[0:4], "scope"); `scope` is that of the attribute around it.
void TirStmtPrinter::PrintRealize(const tir::BufferRealize* realize, const PrimExpr* scope, const Node* frame,
                                  bool concise) {
  PrintScoped(
      frame, realize->body, concise, [] { return std::string_view(); },
      [&] {
        out_.Append("T.realize(");
        prim_.PrintBuffer(realize->buffer);
        out_.Append(realize->bounds.empty() ? "[()" : "[");
        for (uint32_t i = 0; i < realize->bounds.size(); ++i) {
          if (i) out_.Append(", ");
          prim_.Print(realize->bounds[i]->min);
          out_.Append(':');
          prim_.PrintEnd(realize->bounds[i]->min, realize->bounds[i]->extent);
        }
        out_.Append(']');
        if (scope) {
          out_.Append(", ");
          prim_.Print(scope);
        }
        if (!arith::IsInt(realize->condition, 1)) {
          out_.Append(", condition=");
          prim_.Print(realize->condition);
        }
        out_.Append(')');
      });
}

void TirStmtPrinter::PrintStore(const tir::BufferStore* stmt) {
  BeginLine();
  if (names_.Find(stmt->buffer).empty()) Define(stmt->buffer);
  // Names that the value uses are declared before those of the indices.
  prim_.set_evaluated_first(stmt->value);
  if (!stmt->predicate) {
    prim_.PrintAccess(stmt->buffer, stmt->indices);
    prim_.set_evaluated_first(nullptr);
    out_.Append(" = ");
    return prim_.Print(stmt->value);
  }
  prim_.PrintBuffer(stmt->buffer);
  out_.Append(".vstore([");
  prim_.PrintItems(stmt->indices);
  prim_.set_evaluated_first(nullptr);
  out_.Append("], ");
  prim_.Print(stmt->value);
  out_.Append(", predicate=");
  prim_.Print(stmt->predicate);
  out_.Append(')');
}

// T.prefetch(A, [T.Range(0, 4)])
void TirStmtPrinter::PrintPrefetch(const tir::Prefetch* stmt) {
  BeginLine();
  out_.Append("T.prefetch(");
  prim_.PrintBuffer(stmt->buffer);
  out_.Append(", [");
  for (uint32_t i = 0; i < stmt->bounds.size(); ++i) {
    if (i) out_.Append(", ");
    prim_.PrintRange(stmt->bounds[i]);
  }
  out_.Append("])");
}

void TirStmtPrinter::PrintAllocate(const tir::Allocate* stmt) {
  if (const tir::DeclBuffer* decl = DeclaredAllocation(stmt)) return PrintDeclBuffer(decl, Introduces::kData);
  // The variable belongs to the list around the statement.
  const bool concise = top().concise;
  const std::string_view name = names_.Define(stmt->buffer_var);
  PrintScoped(
      stmt, stmt->body, concise, [&] { return name; },
      [&] {
        out_.Append("T.allocate([");
        prim_.PrintItems(stmt->extents);
        out_.Append("], ");
        prim_.PrintDType(stmt->dtype);
        out_.Append(", ");
        PrintString(stmt->buffer_var->pointer ? stmt->buffer_var->pointer->scope : "global", out_);
        if (!arith::IsInt(stmt->condition, 1)) {
          out_.Append(", ");
          prim_.Print(stmt->condition);
        }
        PrintAnnotations(stmt->annotations);
        out_.Append(')');
      });
}

void TirHeadPrinter::PrintAnnotations(const DictAttr* annotations) {
  if (annotations->size() == 0) return;
  out_.Append(", annotations=");
  PrintAttr(annotations, context_, ScriptDialect::kTir, this);
}

void TirStmtPrinter::PrintAllocateConst(const tir::AllocateConst* stmt) {
  PrintScoped(
      stmt, stmt->body, top().concise, [&] { return names_.Define(stmt->buffer_var); },
      [&] {
        out_.Append("T.allocate_const(");
        if (stmt->data) {
          PrintArray(*stmt->data, out_);
        } else {
          out_.Append("[]");
        }
        out_.Append(", ");
        prim_.PrintDType(stmt->dtype);
        out_.Append(", [");
        prim_.PrintItems(stmt->extents);
        out_.Append(']');
        PrintAnnotations(stmt->annotations);
        out_.Append(')');
      });
}

void TirStmtPrinter::PrintDeclBuffer(const tir::DeclBuffer* stmt, Introduces introduces) {
  const bool concise = top().concise;
  const BufferParts parts = Plan(stmt->buffer, introduces, frames_.size() - 1);
  PrintVariableLine(parts);
  const auto define = [&] {
    const std::string_view name = NameBuffer(stmt->buffer);
    NameParts(stmt->buffer, name, parts, frames_.size() - 1);
    return name;
  };
  PrintScoped(stmt, stmt->body, concise, define, [&] {
    PrintDeclaration(
        stmt->buffer, "decl_buffer", [] {}, parts, context_);
  });
}

void TirStmtPrinter::PrintIf(const tir::IfThenElse* stmt) {
  BeginLine();
  out_.Append("if ");
  prim_.Print(stmt->condition);
  out_.Append(':');
  PrintIndented(stmt->then_case, stmt->then_case);
  if (!stmt->else_case) return;
  context_.NewLine();
  out_.Append("else:");
  PrintIndented(stmt->else_case, stmt->else_case);
}

void TirStmtPrinter::PrintWhile(const tir::While* stmt) {
  BeginLine();
  out_.Append("while ");
  prim_.Print(stmt->condition);
  out_.Append(':');
  PrintIndented(stmt, stmt->body);
}

void TirStmtPrinter::PrintEvaluate(const tir::Evaluate* stmt) {
  BeginLine();
  if (const PrimExpr* value = ReturnedValue(stmt->value)) {
    out_.Append("return ");
    return prim_.Print(value);
  }
  const bool call = Is<tir::Call>(stmt->value) && !AsLargeUInt(stmt->value);
  if (!call) out_.Append("T.evaluate(");
  prim_.Print(stmt->value);
  if (!call) out_.Append(')');
}

}  // namespace iropt::text
