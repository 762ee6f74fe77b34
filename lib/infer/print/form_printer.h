// Prints the calls that TVM 0.25 and newer write in a form of their own: layouts of buffers, operands that are not
// scalars, calls by name.
#pragma once

#include <span>
#include <string_view>

#include "iropt/infer/print/prim_printer.h"
#include "iropt/op/tile_layout.h"

namespace iropt {

class FormPrinter {
 public:
  // The operands are printed by `prim`, to the same target.
  FormPrinter(PrimPrinter& prim, PrintTarget& context) : prim_(prim), context_(context), out_(context.out) {}

  // Prints nothing, and returns false, if the call has no such form, or not that which the reader makes.
  bool Print(const tir::Call* call);
  void PrintOperands(std::span<const PrimExpr* const> operands, bool typed);

 private:
  bool PrintDeviceCall(const tir::Call* call);
  bool PrintCopyGroup(const tir::Call* call);
  bool PrintAttributedCall(const tir::Call* call);
  bool PrintAssertMessage(const tir::Call* call);
  bool PrintComposeLayout(const tir::Call* call);
  bool PrintTileCall(const tir::Call* call);
  bool PrintDict(std::span<const PrimExpr* const> items);
  bool PrintRegionOperand(const tir::Call* call);
  bool PrintLambdaOperand(const tir::Call* call);
  void PrintOperand(const PrimExpr* operand, bool typed);
  void PrintTileLayout(const TileLayout& layout);
  void PrintLayoutIters(std::string_view name, std::span<const LayoutIter> iters);
  void PrintOnAxis(const LayoutIter& iter, Precedence least);

  PrimPrinter& prim_;
  PrintTarget& context_;
  OutputStream& out_;
};

// The name of an intrinsic in the text of the version.
void PrintScriptName(const OpInfo& op, PrintTarget& context);

}  // namespace iropt
