// The text of a PrimFunc with declarations of undefined names.
//
// The text is written front to back. Declarations before a first use, whose position is only known when the use is
// reached, are inserted afterwards: every open list of statements remembers where its current line begins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/arith/prim_builder.h"
#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/support/lookup.h"
#include "scopes.h"
#include "text/script/printer_core.h"

namespace iropt::text {

// The dtype of the offset of a buffer whose declaration says nothing of it: that of the dimensions.
inline DataType OffsetType(const tir::Buffer& buffer) {
  return buffer.shape.empty() ? DataType::Int(32) : buffer.shape[0]->dtype;
}
// Returns whether the offset is 0 and need not be printed.
inline bool HasDefaultOffset(const tir::Buffer& buffer) {
  return arith::IsInt(buffer.elem_offset, 0) && buffer.elem_offset->dtype == OffsetType(buffer);
}

class TirDeclarations : public FreeNames {
 public:
  TirDeclarations(const PrimFunc* func, PrintContext& context)
      : func_(func),
        stream_(&text_),
        context_(context.WithOutput(stream_)),
        out_(stream_),
        names_(context.names),
        prim_(context_, ScriptDialect::kTir, this) {}

  std::string_view Define(const tir::Var* var) override;
  std::string_view Define(const tir::Buffer* buffer) override;

 protected:
  // The variables that a buffer declaration introduces implicitly.
  enum class Introduces : uint8_t {
    kNothing,  // T.decl_buffer of an existing pointer
    kData,     // the data pointer: T.alloc_buffer, T.Buffer
    kAll,      // T.match_buffer
  };
  // A list of statements that is being printed, and the names that it defines.
  struct Frame {
    const Node* node;  // the statement that the list belongs to
    size_t mark;       // of the names
    int indent;
    bool visible = true;   // declarations may go here
    bool concise = false;  // the current statement is the last one, so its body may continue at this level
    bool started = false;
    uint64_t line = 0;    // start of the current line, once started
    std::string pending;  // lines to come first, until then
  };
  // A name of an outer list that was defined while inner ones were open: it must outlive them.
  struct LateName {
    size_t position;  // among the names
    const Node* node;
    std::string_view name;
    bool alias;
    size_t owner;  // the index of the list in frames_
  };
  // A line that is inserted at an earlier position.
  struct Insertion {
    uint64_t position;
    std::string text;
  };

  // ---- Lists of statements
  void Push(const Node* node, bool visible = true);
  void Pop();
  Frame& top() { return frames_.back(); }
  void BeginLine();
  void Insert(Frame& frame, std::string line);
  // The innermost open list around the scope: where a name that is used there is declared.
  size_t FrameFor(uint32_t scope, const tir::Buffer* buffer = nullptr);
  // The list that TVM declares an undefined variable in: the innermost one around all its uses.
  size_t FrameFor(const tir::Var* var) { return FrameFor(scopes().ScopeOf(var)); }
  size_t FrameFor(const tir::Buffer* buffer);
  const TirScopes& scopes();
  void NoteLate(size_t owner, size_t position, const Node* node, bool alias);
  // The text with the inserted lines.
  std::string Assemble();

  // ---- Buffers
  struct BufferParts {
    std::vector<const tir::Var*> variables;  // to be declared on a line before
    bool data = true;                        // the data pointer is named
    std::vector<bool> strides;               // which are given by name, as variables that the buffer introduces
    bool offset = false;                     // elem_offset is a variable that the buffer introduces
    bool is_param = false;                   // the type of a parameter: PrintParamShape, and always a dtype
  };
  bool IsNew(const PrimExpr* e) const {
    return tir::Var::ClassOf(e->kind) && names_.Find(static_cast<const tir::Var*>(e)).empty();
  }
  // Names the variables that are declared on a line before; `owner` is the list that the declaration goes to.
  BufferParts Plan(const tir::Buffer* buffer, Introduces introduces, size_t owner);
  // The line that declares the variables, or "" without variables.
  std::string VariableLine(const std::vector<const tir::Var*>& variables);
  void PrintVariableLine(const BufferParts& parts);
  // T.function(first, shape, dtype, ...); `first` prints an argument and the comma after it.
  void PrintDeclaration(const tir::Buffer* buffer, std::string_view function, FunctionRef<void()> first,
                        const BufferParts& parts, PrintContext& context) {
    PrintDeclaration(
        buffer, function, first, [] {}, parts, context);
  }
  // T.function(first, shape, dtype, ..., last): `last` prints more arguments, with a comma before each.
  void PrintDeclaration(const tir::Buffer* buffer, std::string_view function, FunctionRef<void()> first,
                        FunctionRef<void()> last, const BufferParts& parts, PrintContext& context);
  // `data` is the pointer of the buffer, or what it was bound to.
  std::string ViewOf(const tir::Buffer* buffer, const tir::Var* data, PrintContext& context);
  // The memory of the pointer is called A.data from now on.
  void Own(const tir::Var* data, const tir::Buffer* buffer) {
    if (context_.Since(TextVersion::kV0_25)) owners_[data] = buffer;
  }
  // Names for what the declaration introduced: A.data, A.strides[0], A.elem_offset.
  void NameParts(const tir::Buffer* buffer, std::string_view name, const BufferParts& parts, size_t owner);
  // `name = T.function(first, ...)` on a line of its own in the current list.
  void PrintBufferLine(const tir::Buffer* buffer, std::string_view function, Introduces introduces,
                       FunctionRef<void()> first, FunctionRef<void()> last);
  // Prints the shape of a parameter.
  virtual void PrintParamShape(const tir::Buffer* buffer, PrimPrinter& prim) { prim.PrintTuple(buffer->shape); }
  // Names a buffer that is defined now.
  virtual std::string_view NameBuffer(const tir::Buffer* buffer) { return names_.Define(buffer, buffer->name); }

  const PrimFunc* func_;
  std::string text_;
  OutputStream stream_;
  PrintContext context_;
  OutputStream& out_;
  PrintNames& names_;
  PrimPrinter prim_;
  std::vector<Frame> frames_;
  // The lists in which Define has declared buffers, by the statements that they belong to.
  LookupMap<const tir::Buffer*, const Node*> declared_early_;
  LookupMap<const Node*, std::vector<size_t>> frames_of_;  // the lists of a statement, outermost first
  bool hides_scope_ = false;  // the function of the declaration that is printed says the scope

 private:
  void DefineAgain(const LateName& late);

  std::vector<LateName> late_names_;  // by position
  // The buffers whose declarations introduced the pointers.
  LookupMap<const tir::Var*, const tir::Buffer*> owners_;
  std::vector<Insertion> insertions_;
  std::optional<TirScopes> scopes_;  // once a name without a definition was found
  struct Redeclared {
    std::vector<uint32_t> scopes;  // TirScopes::DeclarationsOf
    size_t next = 0;
  };
  LookupMap<const tir::Buffer*, Redeclared> declarations_;  // of buffers without a definition
};

}  // namespace iropt::text
