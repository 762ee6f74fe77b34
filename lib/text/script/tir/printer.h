// Prints PrimFuncs in the form of TVM 0.18.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "declarations.h"
#include "iropt/support/inline_vector.h"
#include "iropt/support/lookup.h"
#include "text/script/relax/tir_vars.h"

namespace iropt::text {

// A function of the module under the given name, at the start of its line: decorator, header, body, and the line break
// that ends the last statement. `scalars` are those that calls pass as tir_vars; from 0.26 on they come before the
// results. O(nodes).
void PrintPrimFunc(const PrimFunc* func, std::string_view name, const ScalarArgs& scalars, PrintContext& context);

// The heads of loops and blocks, which come before their statements.
class TirHeadPrinter : public TirDeclarations {
 public:
  using TirDeclarations::TirDeclarations;

 protected:
  using Loops = InlineVector<const tir::For*, 8>;

  bool IsMarked(const tir::Stmt* stmt) const {
    return context_.options.marked && context_.options.marked->contains(stmt);
  }
  // Prints a head, between marks if the statement is to be marked.
  template <class F>
  void PrintMarked(const tir::Stmt* stmt, F&& print) {
    if (IsMarked(stmt)) out_.Append(kMarkBegin);
    print();
    if (IsMarked(stmt)) out_.Append(kMarkEnd);
  }
  // The head of one loop, or of several. From here on, axes can be these loops under other names.
  void PrintLoopHeads(const tir::For* loop, Loops& loops);
  void LeaveLoops(const Loops& loops);
  void PrintAxes(const tir::Block* block, const tir::BlockRealize* realize);
  void PrintRegions(std::string_view function, List<const tir::BufferRegion*> regions);
  void PrintBlockBuffer(const tir::Buffer* buffer);
  // Nothing if there are none.
  void PrintAnnotations(const DictAttr* annotations);

 private:
  static void AddGrid(const tir::For* loop, Loops& grid);
  void PrintLoopHead(const tir::For* loop);
  void PrintLoopAnnotations(const DictAttr& annotations);
  bool IsRemapped(const tir::IterVar* iter_var, const PrimExpr* value) const;
  void PrintAxis(const tir::IterVar* iter_var, const PrimExpr* value);
  void PrintRemap(const tir::Block* block, const tir::BlockRealize* realize, size_t begin, size_t end);

  std::vector<const tir::For*> loops_;  // by id of the loop variable
};

class TirStmtPrinter : public TirHeadPrinter {
 public:
  using TirHeadPrinter::TirHeadPrinter;

  // The text of one statement of the function.
  std::string PrintStatement(const tir::Stmt* stmt);

 protected:
  // In the current list.
  void PrintBody(const tir::Stmt* body);

 private:
  // ---- statements of 0.24 and newer (printer_flat.cpp)
  void PrintRest(const tir::Stmt* body);
  void PrintBind(const tir::LetStmt* stmt);
  bool PrintDeclWithPointer(const tir::LetStmt* stmt);
  void PrintAllocBuffer(const tir::Allocate* stmt);
  void PrintScalar(const tir::DeclBuffer* stmt);
  void PrintFlatDeclBuffer(const tir::DeclBuffer* stmt);
  void PrintAttrDict(const tir::AttrStmt* stmt);
  static bool IsAttrOfNothing(const tir::AttrStmt* stmt);
  void PrintFlatAssert(const tir::AssertStmt* stmt);

  // ---- statements (printer_stmt.cpp)
  void PrintStmt(const tir::Stmt* stmt);
  void PrintLet(const tir::LetStmt* stmt);
  void PrintAttrStmt(const tir::AttrStmt* stmt);
  void PrintAttrValue(const Node* node);
  // An attribute that stands for a statement of TVM 0.25 (tirx_printer_stmt.cpp); false if it is another one.
  bool PrintTirxAttr(const tir::AttrStmt* stmt);
  void PrintScopeIds(const tir::AttrStmt* stmt, bool concise);
  void PrintScopeCall(std::span<const tir::IterVar* const> threads, std::span<const PrimExpr* const> preferred);
  void DefineEnvThread(const tir::IterVar& thread);
  void PrintLaunchThread(const tir::AttrStmt* stmt, bool concise);
  void PrintRealize(const tir::BufferRealize* realize, const PrimExpr* scope, const Node* frame, bool concise);
  void PrintAssert(const tir::AssertStmt* stmt);
  void PrintStore(const tir::BufferStore* stmt);
  void PrintAllocate(const tir::Allocate* stmt);
  void PrintAllocateConst(const tir::AllocateConst* stmt);
  void PrintPrefetch(const tir::Prefetch* stmt);
  void PrintDeclBuffer(const tir::DeclBuffer* stmt, Introduces introduces);
  void PrintIf(const tir::IfThenElse* stmt);
  void PrintWhile(const tir::While* stmt);
  void PrintEvaluate(const tir::Evaluate* stmt);
  // Statements with a body: `name = head` followed by the body if it may be at this level, else `with head as name:`.
  // `define` names the result of the statement in the list of the body; `head` prints the call.
  void PrintScoped(const Node* frame, const tir::Stmt* body, bool concise, FunctionRef<std::string_view()> define,
                   FunctionRef<void()> head);
  void PrintIndented(const Node* frame, const tir::Stmt* body);

  // ---- loops and blocks (printer_block.cpp)
  void PrintFor(const tir::For* loop);
  void PrintBlock(const tir::Block* block, const tir::BlockRealize* realize);
};

class TirPrinter : public TirStmtPrinter {
 public:
  using TirStmtPrinter::TirStmtPrinter;

  // The text of the function.
  std::string Print(std::string_view name, const ScalarArgs& scalars);

 private:
  void PrintDecorator();
  void PrintParams();
  // Flags for the parameters that are printed as buffers: those with simple buffers whose pointer has no other uses.
  std::vector<bool> InlineParams() const;
  void PrintFuncAttrs(std::string_view name);
  void PrintMatchedParams();
  const tir::Block* ImplicitRoot() const;

  // ---- signatures of 0.26 and newer (printer_signature.cpp)
  void PrintTypedParams(const ScalarArgs& scalars);
  void PrintTypedParam(const tir::Buffer* buffer);
  void PrintParamShape(const tir::Buffer* buffer, PrimPrinter& prim) override;
  std::string QuotedDim(const PrimExpr* dim);

  std::vector<bool> inline_params_;        // parameters that are printed as buffers
  LookupSet<const tir::Var*> type_vars_;   // declared before the function, from 0.27 on
  LookupSet<const tir::Var*> bound_vars_;  // seen in the signature so far
  std::vector<std::string> param_lines_;   // variables that the parameters use and nothing declares
};

}  // namespace iropt::text
