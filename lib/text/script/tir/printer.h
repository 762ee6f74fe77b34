// Prints loop-level functions in the form of TVM 0.18.
//
// The text is written front to back. What has to be declared before its first use, in a place that is only known when
// the use is reached, is put in afterwards: every open statement list remembers where its current line begins.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/ir/tir/stmt.h"
#include "scopes.h"
#include "text/script/printer_core.h"

namespace iropt::text {

// A function of the module under the given name, at the start of its line: decorator, header, body, and the line break
// that ends the last statement. O(nodes).
void PrintPrimFunc(const PrimFunc* func, std::string_view name, PrintContext& context);

class TirPrinter : public FreeNames {
 public:
  TirPrinter(const PrimFunc* func, PrintContext& context)
      : func_(func),
        stream_(&text_),
        context_(context.WithOutput(stream_)),
        out_(stream_),
        names_(context.names),
        prim_(context_, ScriptDialect::kTir, this) {}

  // The text of the function.
  std::string Print(std::string_view name);

  std::string_view Define(const tir::Var* var) override;
  std::string_view Define(const tir::Buffer* buffer) override;

 private:
  friend void PrintPrimFunc(const PrimFunc* func, std::string_view name, PrintContext& context);

  // Which variables a buffer declaration introduces by the way.
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
    bool visible = true;   // whether declarations may go here
    bool concise = false;  // the current statement is the last one, so its body may go on at this level
    bool started = false;
    uint64_t line = 0;    // where the current line begins, once started
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
  // A line that goes in at a place that was printed before.
  struct Insertion {
    uint64_t position;
    std::string text;
  };

  // ---- the function (tir_printer.cpp)
  void PrintParams();
  // Which parameters are printed as buffers: those whose pointer nothing else refers to, with simple buffers.
  std::vector<bool> InlineParams() const;
  void PrintFuncAttrs(std::string_view name);
  void PrintMatchedParams();
  const tir::Block* ImplicitRoot() const;
  std::string Assemble();

  // ---- frames (tir_printer.cpp)
  void Push(const Node* node, bool visible = true);
  void Pop();
  Frame& top() { return frames_.back(); }
  void BeginLine();
  void Insert(Frame& frame, std::string line);
  // The list that TVM declares an undefined name in: the innermost one around all its uses.
  size_t FrameFor(const Node* name);
  const TirScopes& scopes();
  void NoteLate(size_t owner, size_t position, const Node* node, bool alias);
  void DefineAgain(const LateName& late);

  // ---- statements (tir_printer_stmt.cpp)
  void PrintBody(const tir::Stmt* body);
  void PrintStmt(const tir::Stmt* stmt);
  void PrintLet(const tir::LetStmt* stmt);
  void PrintAttrStmt(const tir::AttrStmt* stmt);
  void PrintAttrValue(const Node* node);
  void PrintLaunchThread(const tir::AttrStmt* stmt, bool concise);
  void PrintRealize(const tir::BufferRealize* realize, const PrimExpr* scope, const Node* frame, bool concise);
  void PrintAssert(const tir::AssertStmt* stmt);
  void PrintStore(const tir::BufferStore* stmt);
  void PrintAllocate(const tir::Allocate* stmt);
  void PrintAllocateConst(const tir::AllocateConst* stmt);
  void PrintDeclBuffer(const tir::DeclBuffer* stmt, Introduces introduces);
  void PrintIf(const tir::IfThenElse* stmt);
  void PrintWhile(const tir::While* stmt);
  void PrintEvaluate(const tir::Evaluate* stmt);
  // Statements with a body: `name = head` followed by the body where it may stand at this level, else `with head as
  // name:`. `define` names what the statement makes, in the list of the body; `head` prints the call.
  void PrintScoped(const Node* frame, const tir::Stmt* body, bool concise, FunctionRef<std::string_view()> define,
                   FunctionRef<void()> head);
  void PrintIndented(const Node* frame, const tir::Stmt* body);

  // ---- loops and blocks (tir_printer_block.cpp)
  void PrintFor(const tir::For* loop);
  std::vector<const tir::For*> GridOf(const tir::For* loop) const;
  void PrintLoopHead(const tir::For* loop);
  void PrintBlock(const tir::Block* block, const tir::BlockRealize* realize);
  void PrintAxes(const tir::Block* block, const tir::BlockRealize* realize);
  bool IsRemapped(const tir::IterVar* iter_var, const PrimExpr* value) const;
  void PrintAxis(const tir::IterVar* iter_var, const PrimExpr* value);
  void PrintRemap(const tir::Block* block, const tir::BlockRealize* realize, size_t begin, size_t end);
  void PrintRegions(std::string_view function, List<const tir::BufferRegion*> regions);
  void EnterLoop(const tir::For* loop);
  void LeaveLoop(const tir::For* loop);

  // ---- buffers (tir_printer_buffer.cpp)
  struct BufferParts {
    std::vector<const tir::Var*> variables;  // to be declared on a line before
    bool data = true;                        // the data pointer is named
    std::vector<bool> strides;               // which are given by name, as variables that the buffer introduces
    bool offset = false;                     // elem_offset is a variable that the buffer introduces
  };
  bool IsNew(const PrimExpr* e) const {
    return tir::Var::ClassOf(e->kind) && names_.Find(static_cast<const tir::Var*>(e)).empty();
  }
  // Names the variables that are declared on a line before; `owner` is the list that the declaration goes to.
  BufferParts Plan(const tir::Buffer* buffer, Introduces introduces, size_t owner);
  // The line that declares the variables, or "" where there are none.
  std::string VariableLine(const std::vector<const tir::Var*>& variables);
  void PrintVariableLine(const BufferParts& parts);
  // T.function(first, shape, dtype, ...); `first` prints an argument and the comma after it.
  void PrintDeclaration(const tir::Buffer* buffer, std::string_view function, FunctionRef<void()> first,
                        const BufferParts& parts, PrintContext& context);
  // Names for what the declaration introduced: A.data, A.strides[0], A.elem_offset.
  void NameParts(const tir::Buffer* buffer, std::string_view name, const BufferParts& parts, size_t owner);
  // `name = T.function(first, ...)` on a line of its own in the current list.
  void PrintBufferLine(const tir::Buffer* buffer, std::string_view function, Introduces introduces,
                       FunctionRef<void()> first);
  std::string_view Hint(const tir::Buffer* buffer) const { return buffer->name.empty() ? "buffer" : buffer->name; }

  const PrimFunc* func_;
  std::string text_;
  OutputStream stream_;
  PrintContext context_;
  OutputStream& out_;
  PrintNames& names_;
  PrimPrinter prim_;
  std::vector<Frame> frames_;
  std::vector<LateName> late_names_;  // by position
  std::vector<Insertion> insertions_;
  std::vector<bool> inline_params_;     // parameters that are printed as buffers
  std::vector<const tir::For*> loops_;  // by id of the loop variable
  std::optional<TirScopes> scopes_;     // once a name without a definition was found
};

}  // namespace iropt::text
