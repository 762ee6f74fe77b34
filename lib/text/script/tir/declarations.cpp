#include "declarations.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "iropt/ir/tir/builder.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/inline_vector.h"
#include "layout_printer.h"

namespace iropt::text {

// ---- Lists of statements

std::string TirDeclarations::Assemble() {
  // The stream writes to a string, which cannot fail.
  static_cast<void>(stream_.Flush());
  if (insertions_.empty()) return std::move(text_);
  std::stable_sort(insertions_.begin(), insertions_.end(),
                   [](const Insertion& a, const Insertion& b) { return a.position < b.position; });
  std::string result;
  size_t done = 0;
  for (const Insertion& insertion : insertions_) {
    result.append(text_, done, insertion.position - done);
    result += insertion.text;
    done = insertion.position;
  }
  return result.append(text_, done);
}

void TirDeclarations::Push(const Node* node, bool visible) {
  Frame& frame = frames_.emplace_back();
  frame.node = node;
  frame.mark = names_.Mark();
  frame.indent = context_.indent;
  frame.visible = visible;
  frames_of_[node].push_back(frames_.size() - 1);
}

void TirDeclarations::Pop() {
  const size_t mark = frames_.back().mark;
  frames_of_.at(frames_.back().node).pop_back();
  frames_.pop_back();
  names_.Release(mark);
  std::vector<LateName> kept;
  while (!late_names_.empty() && late_names_.back().position >= mark) {
    if (late_names_.back().owner < frames_.size()) kept.push_back(late_names_.back());
    late_names_.pop_back();
  }
  for (size_t i = kept.size(); i-- > 0;) DefineAgain(kept[i]);
}

void TirDeclarations::DefineAgain(const LateName& late) {
  const size_t position = names_.Mark();
  if (!late.alias) names_.DefineText(late.name);
  if (const auto* buffer = As<tir::Buffer>(late.node)) {
    names_.Alias(buffer, late.name);
  } else {
    names_.Alias(static_cast<const tir::Var*>(late.node), late.name);
  }
  if (late.owner + 1 < frames_.size()) late_names_.push_back({position, late.node, late.name, late.alias, late.owner});
}

// After a name was defined that belongs to an outer list.
void TirDeclarations::NoteLate(size_t owner, size_t position, const Node* node, bool alias) {
  if (owner + 1 == frames_.size()) return;
  const auto* buffer = As<tir::Buffer>(node);
  const std::string_view name = buffer ? names_.Find(buffer) : names_.Find(static_cast<const tir::Var*>(node));
  late_names_.push_back({position, node, name, alias, owner});
}

void TirDeclarations::BeginLine() {
  context_.EndLine();  // lines that are inserted before this one come after the end of the last one
  Frame& frame = top();
  if (!frame.started) {
    frame.started = true;
    out_.Append(frame.pending);
  }
  frame.line = out_.position();
  context_.NewLine();
}

// Before the line of the list that is being printed.
void TirDeclarations::Insert(Frame& frame, std::string line) {
  line.insert(0, static_cast<size_t>(frame.indent) * 4, ' ');
  line.insert(0, 1, '\n');
  if (frame.started) {
    insertions_.push_back({frame.line, std::move(line)});
  } else {
    frame.pending += line;
  }
}

const TirScopes& TirDeclarations::scopes() {
  if (!scopes_) scopes_.emplace(func_);
  return *scopes_;
}

namespace {

// Returns whether the statement defines the pointer of the buffer.
bool DefinesData(const Node* stmt, const tir::Buffer& buffer) {
  if (const auto* allocate = As<tir::Allocate>(stmt)) return allocate->buffer_var == buffer.data;
  if (const auto* constant = As<tir::AllocateConst>(stmt)) return constant->buffer_var == buffer.data;
  const auto* let = As<tir::LetStmt>(stmt);
  return let && let->var == buffer.data;
}

}  // namespace

// A statement that is a branch of a condition has two lists. As in TVM the outer one is taken, which is before the
// statement, but not for a buffer that needs the statement.
size_t TirDeclarations::FrameFor(uint32_t scope, const tir::Buffer* buffer) {
  for (uint32_t s = scope; s != TirScopes::kNone; s = scopes().parent(s)) {
    const Node* node = scopes().node(s);
    const auto* lists = frames_of_.Find(node);
    if (!lists) continue;
    const auto is_visible = [this](size_t i) { return frames_[i].visible; };
    const auto outer = std::ranges::find_if(*lists, is_visible);
    if (outer == lists->end()) continue;
    if (!buffer || !DefinesData(node, *buffer)) return *outer;
    return *std::find_if(lists->rbegin(), lists->rend(), is_visible);
  }
  return 0;
}

size_t TirDeclarations::FrameFor(const tir::Buffer* buffer) {
  const auto is_new = [&](const PrimExpr* e) { return IsNew(e); };
  // Only one declaration can introduce variables.
  if (is_new(buffer->data) || is_new(buffer->elem_offset) || std::ranges::any_of(buffer->shape, is_new) ||
      std::ranges::any_of(buffer->strides, is_new))
    return FrameFor(scopes().ScopeOf(buffer), buffer);
  const auto [entry, added] = declarations_.try_emplace(buffer);
  Redeclared& declared = entry;
  if (added) declared.scopes = scopes().DeclarationsOf(buffer);
  const bool is_known = declared.next < declared.scopes.size();
  return FrameFor(is_known ? declared.scopes[declared.next++] : scopes().ScopeOf(buffer), buffer);
}

std::string_view TirDeclarations::Define(const tir::Var* var) {
  const size_t owner = FrameFor(var);
  const size_t position = names_.Mark();
  const std::string_view name = names_.Define(var);
  NoteLate(owner, position, var, false);
  Insert(frames_[owner], VariableLine({var}));
  return name;
}

std::string_view TirDeclarations::Define(const tir::Buffer* buffer) {
  const size_t owner = FrameFor(buffer);
  const size_t position = names_.Mark();
  const std::string_view name = NameBuffer(buffer);
  NoteLate(owner, position, buffer, false);
  const BufferParts parts = Plan(buffer, Introduces::kData, owner);
  std::string line(name);
  line += " = ";
  // From 0.24 on, T.Buffer is a parameter, or a buffer whose memory is not defined either.
  const bool declares = parts.data && context_.Since(TextVersion::kV0_24);
  if (declares) declared_early_[buffer] = frames_[owner].node;
  if (const std::string view = ViewOf(buffer, buffer->data, context_); !view.empty()) {
    line += view;
  } else {
    OutputStream out(&line);
    PrintContext context = context_.WithOutput(out);
    PrintDeclaration(
        buffer, declares ? "decl_buffer" : "Buffer", [] {}, parts, context);
  }
  NameParts(buffer, name, parts, owner);
  if (!parts.variables.empty()) Insert(frames_[owner], VariableLine(parts.variables));
  Insert(frames_[owner], std::move(line));
  return name;
}

// ---- Buffers, and the variables that they introduce by the way

TirDeclarations::BufferParts TirDeclarations::Plan(const tir::Buffer* buffer, Introduces introduces, size_t owner) {
  BufferParts parts;
  const auto count = [&](const tir::Var* var) {
    int n = buffer->data == var;
    const auto in = [&](const PrimExpr* e) {
      if (!Is<tir::IntImm>(e)) tir::ForEachVar(e, [&](const tir::Var* v) { n += v == var; });
    };
    for (const PrimExpr* e : buffer->shape) in(e);
    for (const PrimExpr* e : buffer->strides) in(e);
    in(buffer->elem_offset);
    return n;
  };
  const auto declare = [&](const PrimExpr* e) {
    const auto* var = static_cast<const tir::Var*>(e);
    const size_t position = names_.Mark();
    names_.Define(var);
    NoteLate(owner, position, var, false);
    parts.variables.push_back(var);
  };
  // A new variable that occurs once has no line of its own: the declaration introduces it.
  const auto introduce = [&](const PrimExpr* e) {
    if (!IsNew(e)) return false;
    if (count(static_cast<const tir::Var*>(e)) == 1) return true;
    declare(e);
    return false;
  };
  for (const PrimExpr* e : buffer->shape) {
    if (IsNew(e)) declare(e);
  }
  if (introduces == Introduces::kNothing) {
    if (IsNew(buffer->data)) declare(buffer->data);
  } else {
    parts.data = !introduce(buffer->data);
  }
  // The variable that a declaration introduces has the dtype of the dimensions; a stride outside of T.match_buffer does
  // not.
  const auto introduce_as = [&](const PrimExpr* e, DataType dtype) {
    if (e->dtype == dtype) return introduce(e);
    if (IsNew(e)) declare(e);
    return false;
  };
  const bool follows_shape = introduces == Introduces::kAll && !buffer->shape.empty();
  const DataType stride_type = follows_shape ? buffer->shape[0]->dtype : DataType::Int(32);
  for (const PrimExpr* e : buffer->strides) parts.strides.push_back(introduce_as(e, stride_type));
  parts.offset = introduce_as(buffer->elem_offset, OffsetType(*buffer));
  return parts;
}

std::string TirDeclarations::VariableLine(const std::vector<const tir::Var*>& variables) {
  std::string line;
  if (variables.empty()) return line;
  OutputStream out(&line);
  PrintContext context = context_.WithOutput(out);
  PrimPrinter prim(context, ScriptDialect::kTir);
  for (size_t i = 0; i < variables.size(); ++i) {
    if (i) out.Append(", ");
    out.Append(names_.Find(variables[i]));
  }
  out.Append(" = ");
  for (size_t i = 0; i < variables.size(); ++i) {
    if (i) out.Append(", ");
    prim.PrintVarCreation(variables[i]);
  }
  static_cast<void>(out.Flush());
  return line;
}

void TirDeclarations::PrintVariableLine(const BufferParts& parts) {
  if (parts.variables.empty()) return;
  BeginLine();
  out_.Append(VariableLine(parts.variables));
}

void TirDeclarations::PrintDeclaration(const tir::Buffer* buffer, std::string_view function, FunctionRef<void()> first,
                                       FunctionRef<void()> last, const BufferParts& parts, PrintContext& context) {
  OutputStream& out = context.out;
  PrimPrinter prim(context, ScriptDialect::kTir, this);
  const auto integer = [&](std::string_view name, int64_t value) {
    out.Append(name);
    out.AppendInt(value);
  };
  out.Append("T.");
  if (function == "decl_buffer" && prim_.IsPrintedAsScalar(*buffer)) {
    out.Append("decl_scalar(");
    prim.PrintDTypeName(buffer->dtype);
    if (parts.data) {
      out.Append(", data=");
      prim.PrintVar(buffer->data);
    }
    out.Append(", elem_offset=");
    prim.Print(buffer->elem_offset);
    out.Append(", scope=");
    PrintString(buffer->scope(), out);
    return out.Append(')');
  }
  out.Append(function);
  out.Append('(');
  first();
  parts.is_param ? PrintParamShape(buffer, prim) : prim.PrintTuple(buffer->shape);
  if (parts.is_param || buffer->dtype != DataType::Float(32)) {
    out.Append(", ");
    prim.PrintDType(buffer->dtype);
  }
  if (parts.data) {
    out.Append(", data=");
    prim.PrintVar(buffer->data);
  }
  if (!buffer->strides.empty()) {
    out.Append(", strides=(");
    for (uint32_t i = 0; i < buffer->strides.size(); ++i) {
      if (i) out.Append(", ");
      if (parts.strides[i]) {
        PrintString(static_cast<const tir::Var*>(buffer->strides[i])->name, out);
      } else {
        prim.Print(buffer->strides[i]);
      }
    }
    out.Append(buffer->strides.size() == 1 ? ",)" : ")");
  }
  if (!HasDefaultOffset(*buffer) && !parts.offset) {
    out.Append(", elem_offset=");
    prim.Print(buffer->elem_offset);
  }
  if (buffer->scope() != "global" && !hides_scope_) {
    out.Append(", scope=");
    PrintString(buffer->scope(), out);
  }
  if (buffer->data_alignment != tir::kAllocAlignment) integer(", align=", buffer->data_alignment);
  if (parts.offset || buffer->offset_factor != 1) integer(", offset_factor=", buffer->offset_factor);
  if (buffer->buffer_type != tir::BufferType::kDefault) out.Append(", buffer_type=\"auto\"");
  if (!buffer->axis_separators.empty()) {
    for (uint32_t i = 0; i < buffer->axis_separators.size(); ++i)
      integer(i ? ", " : ", axis_separators=[", buffer->axis_separators[i]);
    out.Append(']');
  }
  PrintLayoutArguments(*func_, *buffer, context.version, prim, out);
  last();
  out.Append(')');
}

void TirDeclarations::NameParts(const tir::Buffer* buffer, std::string_view name, const BufferParts& parts,
                                size_t owner) {
  const bool is_scalar = prim_.IsPrintedAsScalar(*buffer);
  const auto alias = [&](const PrimExpr* e, std::string_view part) {
    InlineVector<char, 64> text;
    text.append(name);
    if (is_scalar) text.append(std::string_view(".buffer"));
    text.append(part);
    const auto* var = static_cast<const tir::Var*>(e);
    const size_t position = names_.Mark();
    names_.Alias(var, {text.data(), text.size()});
    NoteLate(owner, position, var, true);
  };
  if (!parts.data) {
    alias(buffer->data, ".data");
    Own(buffer->data, buffer);
  }
  for (uint32_t i = 0; i < buffer->strides.size(); ++i) {
    if (parts.strides[i]) alias(buffer->strides[i], fmt::format(".strides[{}]", i));
  }
  if (parts.offset) alias(buffer->elem_offset, ".elem_offset");
}

void TirDeclarations::PrintBufferLine(const tir::Buffer* buffer, std::string_view function, Introduces introduces,
                                      FunctionRef<void()> first, FunctionRef<void()> last) {
  const std::string_view name = NameBuffer(buffer);
  const size_t owner = frames_.size() - 1;
  const BufferParts parts = Plan(buffer, introduces, owner);
  PrintVariableLine(parts);
  BeginLine();
  out_.Append(name);
  out_.Append(" = ");
  PrintDeclaration(buffer, function, first, last, parts, context_);
  NameParts(buffer, name, parts, owner);
}

}  // namespace iropt::text
