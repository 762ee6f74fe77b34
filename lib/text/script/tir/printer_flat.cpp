// Statements of TVM 0.24 and newer: definitions have no body, their scope is the rest of the list.
#include <optional>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/structural.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op_id.h"
#include "layout_printer.h"
#include "printer.h"
#include "text/script/attr_text.h"

namespace iropt::text {
namespace {

// A truth value has a byte in memory.
int StoredBits(DataType dtype) { return dtype.is_bool() ? 8 : dtype.bits; }

// Returns whether the elements of the child are those of the parent in groups, or parts of them, along the last
// dimension.
bool IsReinterpreted(const tir::Buffer& child, const tir::Buffer& parent) {
  const uint32_t ndim = child.shape.size();
  if (ndim == 0 || ndim != parent.shape.size()) return false;
  for (uint32_t i = 0; i + 1 < ndim; ++i) {
    if (!DeepEqual(child.shape[i], parent.shape[i])) return false;
  }
  const int64_t* last = arith::AsInt(child.shape[ndim - 1]);
  const int64_t* parent_last = arith::AsInt(parent.shape[ndim - 1]);
  if (!last || !parent_last) return false;
  const int bits = StoredBits(child.dtype), parent_bits = StoredBits(parent.dtype);
  return bits > parent_bits ? *parent_last == *last * (bits / parent_bits)
                            : *last == *parent_last * (parent_bits / bits);
}

bool LoadsFrom(const PrimExpr* value, const tir::Buffer* buffer) {
  bool found = false;
  ForEachPrimName(
      value, [](const tir::Var*) {}, [&](const tir::Buffer* used) { found |= used == buffer; });
  return found;
}

// The layout that a view states, null if it follows from that of the parent; nothing if no view has it.
std::optional<const PrimExpr*> LayoutOfView(const tir::Buffer& child, const tir::Buffer& parent, bool reshapes) {
  const auto is_default = [](const PrimExpr* layout) { return CallOf(layout, op::kTirDefaultLayout) != nullptr; };
  if (!child.layout && !parent.layout) return nullptr;
  if (!child.layout || !parent.layout) return std::nullopt;
  if (is_default(child.layout) && is_default(parent.layout)) return nullptr;
  if (!reshapes || is_default(child.layout)) return std::nullopt;
  return DeepEqual(child.layout, parent.layout) ? nullptr : child.layout;
}

}  // namespace

// A.view(16, 16), A.view("int32"): another shape or dtype of the same memory. Empty if the declaration says more.
std::string TirDeclarations::ViewOf(const tir::Buffer* buffer, const tir::Var* data, PrintContext& context) {
  const auto* known = owners_.Find(data);
  if (!known || !context.Since(TextVersion::kV0_25)) return {};
  const tir::Buffer& parent = **known;
  const std::string_view name = names_.Find(&parent);
  // The offset of a buffer without dimensions has a dtype of its own.
  if (name.empty() || &parent == buffer || parent.shape.empty() || buffer->data_alignment != parent.data_alignment ||
      buffer->offset_factor != parent.offset_factor || !DeepEqual(buffer->allocated_addr, parent.allocated_addr) ||
      !DeepEqual(buffer->elem_offset, parent.elem_offset))
    return {};
  const bool same_dtype = buffer->dtype == parent.dtype;
  const bool reshapes =
      same_dtype && !DeepEqual(buffer->shape, parent.shape) && DeepEqual(buffer->strides, parent.strides);
  const std::optional<const PrimExpr*> layout = LayoutOfView(*buffer, parent, reshapes);
  const bool is_view = layout && (reshapes || (!same_dtype && IsReinterpreted(*buffer, parent)));
  bool printed = is_view;
  std::string text(name);
  {
    OutputStream out(&text);
    PrintContext inner = context.WithOutput(out);
    PrimPrinter prim(inner, ScriptDialect::kTir, this);
    if (DeepEqual(buffer->strides, parent.strides) &&
        (PrintLocalView(*buffer, parent, prim, out) || PrintPermutedView(*buffer, parent, out))) {
      printed = true;
    } else if (is_view) {
      out.Append(".view(");
      reshapes ? prim.PrintItems(buffer->shape) : prim.PrintDType(buffer->dtype);
      if (*layout) {
        out.Append(", layout=");
        prim.Print(*layout);
      }
      out.Append(')');
    }
  }
  return printed ? text : std::string();
}

// B = T.decl_buffer((4,), data=T.address_of(A[4])) for a buffer on a pointer that was bound for it.
bool TirStmtPrinter::PrintDeclWithPointer(const tir::LetStmt* stmt) {
  const auto* decl = As<tir::DeclBuffer>(stmt->body);
  const bool inlined = context_.Since(TextVersion::kV0_26) && decl && decl->buffer->data == stmt->var &&
                       (stmt->var->flags & tir::Var::kBufferPointer) != 0;
  if (!inlined) return false;
  const auto* source = As<tir::Var>(stmt->value);
  if (const std::string view = source ? ViewOf(decl->buffer, source, context_) : std::string(); !view.empty()) {
    BeginLine();
    out_.Append(NameBuffer(decl->buffer));
    out_.Append(" = ");
    out_.Append(view);
  } else {
    std::string value;
    {
      OutputStream out(&value);
      PrintContext context = context_.WithOutput(out);
      PrimPrinter(context, ScriptDialect::kTir, this).Print(stmt->value);
    }
    names_.Alias(stmt->var, value);
    PrintBufferLine(
        decl->buffer, "decl_buffer", Introduces::kNothing, [] {}, [] {});
  }
  names_.Alias(stmt->var, std::string(names_.Find(decl->buffer)) + ".data");
  Own(stmt->var, decl->buffer);
  PrintRest(decl->body);
  return true;
}

// The rest of the list that the definition before it is in.
void TirStmtPrinter::PrintRest(const tir::Stmt* body) {
  const bool is_last = top().concise && !context_.Since(TextVersion::kV0_25);
  top().concise = is_last;
  const auto* seq = As<tir::SeqStmt>(body);
  // The statement that the reader adds if nothing follows.
  const auto* nothing = As<tir::Evaluate>(body);
  if (nothing && arith::IsInt(nothing->value, 0)) return;
  if (!seq) return PrintStmt(body);
  for (uint32_t i = 0; i < seq->seq.size(); ++i) {
    top().concise = is_last && i + 1 == seq->seq.size();
    PrintStmt(seq->seq[i]);
  }
}

// x: T.let[T.int32] = value, in 0.24 x: T.int32 = value, or x = value for a variable that is defined already.
void TirStmtPrinter::PrintBind(const tir::LetStmt* stmt) {
  if (PrintDeclWithPointer(stmt)) return;
  BeginLine();
  const bool known = !names_.Find(stmt->var).empty();
  // Names that the value uses are declared before that of the variable.
  std::string value;
  {
    OutputStream out(&value);
    PrintContext context = context_.WithOutput(out);
    PrimPrinter(context, ScriptDialect::kTir, this).Print(stmt->value);
  }
  out_.Append(names_.Define(stmt->var));
  if (!known) {
    const bool marked = context_.Since(TextVersion::kV0_25);
    const bool typed = !stmt->var->dtype.is_void() || context_.Since(TextVersion::kV0_26);
    if (marked || typed) out_.Append(": ");
    if (marked) out_.Append(typed ? "T.let[" : "T.let");
    if (typed) prim_.PrintVarType(stmt->var);
    if (marked && typed) out_.Append(']');
  }
  out_.Append(" = ");
  out_.Append(value);
  PrintRest(stmt->body);
}

// A = T.alloc_buffer((4,), scope="shared"): the buffer that is declared on the memory right after, or one of its own.
void TirStmtPrinter::PrintAllocBuffer(const tir::Allocate* stmt) {
  const auto* decl = As<tir::DeclBuffer>(stmt->body);
  const bool declared = decl && decl->buffer->data == stmt->buffer_var && decl->buffer->dtype == stmt->dtype &&
                        DeepEqual(stmt->extents, decl->buffer->shape);
  const std::string_view scope = stmt->buffer_var->pointer ? stmt->buffer_var->pointer->scope : std::string_view();
  const bool has_function = context_.Since(TextVersion::kV0_25) && (scope == "shared" || scope == "local");
  const std::string_view function = scope == "shared" ? "alloc_shared" : "alloc_local";
  const auto annotations = [&] { PrintAnnotations(stmt->annotations); };
  if (declared && prim_.IsPrintedAsScalar(*decl->buffer) && arith::IsInt(decl->buffer->elem_offset, 0) &&
      stmt->annotations->size() == 0)
    return PrintScalar(decl);
  if (declared) {
    hides_scope_ = has_function;
    PrintBufferLine(
        decl->buffer, has_function ? function : "alloc_buffer", Introduces::kData, [] {}, annotations);
    hides_scope_ = false;
    return PrintRest(decl->body);
  }
  BeginLine();
  const std::string name(names_.DefineText(stmt->buffer_var->name));
  out_.Append(name);
  out_.Append(" = T.");
  out_.Append(has_function ? function : "alloc_buffer");
  out_.Append('(');
  prim_.PrintTuple(stmt->extents);
  if (stmt->dtype != DataType::Float(32)) {
    out_.Append(", ");
    prim_.PrintDType(stmt->dtype);
  }
  if (!has_function && !scope.empty() && scope != "global") {
    out_.Append(", scope=");
    PrintString(scope, out_);
  }
  annotations();
  out_.Append(')');
  names_.Alias(stmt->buffer_var, name + ".data");
  PrintRest(stmt->body);
}

// x: T.int32 = value for an allocation and the store after it, x: T.int32 without one.
void TirStmtPrinter::PrintScalar(const tir::DeclBuffer* stmt) {
  const tir::Buffer* buffer = stmt->buffer;
  BeginLine();
  const std::string_view name = NameBuffer(buffer);
  out_.Append(name);
  const std::string_view scope = buffer->scope();
  const bool is_local = scope == "local";
  if (is_local) {
    out_.Append(": ");
    prim_.PrintDTypeName(buffer->dtype);
  } else {
    out_.Append(scope == "shared" ? " = T.shared_scalar(" : " = T.alloc_scalar(");
    prim_.PrintDType(buffer->dtype);
    if (scope != "shared") {
      out_.Append(", ");
      PrintString(scope, out_);
    }
    out_.Append(')');
  }
  BufferParts parts;
  parts.data = false;
  parts.strides.resize(buffer->strides.size());
  NameParts(buffer, name, parts, frames_.size() - 1);
  const auto* seq = As<tir::SeqStmt>(stmt->body);
  const auto* store = is_local ? As<tir::BufferStore>(seq ? seq->seq[0] : stmt->body) : nullptr;
  if (!store || store->buffer != buffer || store->predicate || LoadsFrom(store->value, buffer))
    return PrintRest(stmt->body);
  out_.Append(" = ");
  prim_.Print(store->value);
  const bool is_last = top().concise;
  for (uint32_t i = 1; seq && i < seq->seq.size(); ++i) {
    top().concise = is_last && i + 1 == seq->seq.size();
    PrintStmt(seq->seq[i]);
  }
}

void TirStmtPrinter::PrintFlatDeclBuffer(const tir::DeclBuffer* stmt) {
  // T.reads and T.writes of a block come before its statements.
  const Node** list = declared_early_.Find(stmt->buffer);
  if (list && *list == top().node) return PrintRest(stmt->body);
  if (const std::string view = ViewOf(stmt->buffer, stmt->buffer->data, context_); !view.empty()) {
    BeginLine();
    out_.Append(NameBuffer(stmt->buffer));
    out_.Append(" = ");
    out_.Append(view);
  } else {
    PrintBufferLine(
        stmt->buffer, "decl_buffer", Introduces::kNothing, [] {}, [] {});
  }
  PrintRest(stmt->body);
}

// T.attr({"key": value}) for attributes of nothing, which follow each other in one dictionary.
void TirStmtPrinter::PrintAttrDict(const tir::AttrStmt* stmt) {
  std::vector<const tir::AttrStmt*> attrs{stmt};
  while (const auto* next = As<tir::AttrStmt>(attrs.back()->body)) {
    if (!IsAttrOfNothing(next)) break;
    attrs.push_back(next);
  }
  PrintScoped(
      stmt, attrs.back()->body, top().concise, [] { return std::string_view(); },
      [&] {
        out_.Append("T.attr({");
        for (const tir::AttrStmt* attr : attrs) {
          if (attr != stmt) out_.Append(", ");
          PrintString(attr->attr_key, out_);
          out_.Append(": ");
          prim_.Print(attr->value);
        }
        out_.Append("})");
      });
}

bool TirStmtPrinter::IsAttrOfNothing(const tir::AttrStmt* stmt) {
  const auto* node = As<tir::IntImm>(stmt->node);
  return node && node->value == 0;
}

// assert condition, ("RuntimeError", ["message"])
void TirStmtPrinter::PrintFlatAssert(const tir::AssertStmt* stmt) {
  BeginLine();
  out_.Append("assert ");
  prim_.Print(stmt->condition);
  // Other messages than strings have a kind and parts of their own.
  const bool plain = Is<tir::StringImm>(stmt->message);
  out_.Append(plain ? ", (\"RuntimeError\", [" : ", ");
  prim_.Print(stmt->message);
  if (plain) out_.Append("])");
  PrintRest(stmt->body);
}

}  // namespace iropt::text
