// Conversion of values of the text for PrimFuncs: scalar expressions, ranges, loads, regions. Every function reports
// values of the wrong kind, and then returns null or false.
#pragma once

#include <functional>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/ir/tir/stmt.h"
#include "iropt/support/inline_vector.h"
#include "prim_ops.h"
#include "text/script/arguments.h"
#include "text/script/attr_text.h"

namespace iropt::text {

// The indices of an element, or the ranges of a region: mostly few.
using Prims = InlineVector<const PrimExpr*, 8>;
using Ranges = InlineVector<const tir::Range*, 8>;

class ScalarValues {
 public:
  // Integers without a type have `int_bits` bits, or 64 if they need more.
  ScalarValues(Workspace& workspace, DiagnosticEngine& diagnostics, int int_bits)
      : ops_(workspace, diagnostics, int_bits), workspace_(workspace), diagnostics_(diagnostics) {}

  // The argument, unless it is absent or None.
  static const PyValue* Given(const PyValue* value) {
    return value && !value->is(PyValue::Kind::kNone) ? value : nullptr;
  }

  const PrimExpr* ToPrim(const PyValue& value);
  // Returns whether the value is a buffer that stands for its only element.
  bool IsElement(const PyValue& value) const;
  const PrimExpr* ToBool(const PyValue& value);
  // The condition of `if` and `while`: a truth value or, as in Python, whether a number is not 0.
  const PrimExpr* ToCondition(const PyValue& value);
  // A number becomes a constant of the dtype, an expression must have it.
  const PrimExpr* ToPrimOf(const PyValue& value, DataType dtype);
  // A tuple or list of expressions, or one expression for a list of one.
  bool ToPrims(const PyValue& value, std::vector<const PrimExpr*>& out);
  List<const PrimExpr*> CopyPrims(std::span<const PrimExpr* const> exprs) { return workspace_.Copy(exprs); }
  const tir::Var* ToVar(const PyValue& value);
  // A range, (begin, end), or an extent from 0.
  const tir::Range* ToRange(const PyValue& value);
  // The extent of a range from `start` to `stop`, which is printed as start + extent: the other operand of that sum as
  // it stands, or the difference.
  const PrimExpr* ExtentOf(const PrimExpr* start, const PrimExpr* stop, Span span);
  bool ToDType(const PyValue& value, DataType& out);
  bool ToInteger(const PyValue& value, int64_t& out);
  bool ToIntegers(const PyValue& value, std::vector<int64_t>& out);
  bool ToString(const PyValue& value, std::string_view& out);
  // An optional dictionary: empty if absent.
  const DictAttr* ToDict(const PyValue* value);
  const Attr* ToAttr(const PyValue& value, ScriptDialect mode);
  // Makes a value one that takes part in arithmetic: a number or an expression.
  bool Operand(PyValue& value);

  const PrimExpr* Simplify(const PrimExpr* expr);
  const PrimExpr* True(Span span) { return ops_.Int(1, DataType::Bool(), span); }
  const PrimExpr* MakeCall(std::string_view op, DataType dtype, std::initializer_list<const PrimExpr*> args, Span span);

  // ---- Elements of buffers (buffers.cpp)
  bool WrongIndexCount(const tir::Buffer* buffer, size_t found, Span span);
  // A[i, j] names the region of one element.
  const tir::BufferRegion* ToRegion(const PyValue& value);
  const PrimExpr* LoadRegion(const tir::BufferRegion* region, Span span);
  const PrimExpr* MakeLoad(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices,
                           const PrimExpr* predicate, Span span);
  const tir::Stmt* MakeStore(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices, const PyValue& value,
                             const PyValue* predicate, Span span);
  // The indices of a vector of `dtype` that begins at `indices`.
  void WidenIndices(const tir::Buffer* buffer, DataType dtype, std::vector<const PrimExpr*>& indices, Span span);
  // A buffer as an argument of a packed function: the DLTensor made of it on the stack.
  const PrimExpr* PackBuffer(const tir::Buffer* buffer, Span span);
  const tir::Var* PointerOf(const tir::Buffer* buffer) { return own_pointer_ ? own_pointer_(buffer) : buffer->data; }

  PrimOps ops_;

 protected:
  ParserCore::Failed Report(Span span, DiagId kind, std::string message) {
    diagnostics_.Error(Location(span), kind, std::move(message));
    return {};
  }
  ParserCore::Failed Wrong(const PyValue& value, std::string_view expected) {
    ReportWrongValue(value, expected, diagnostics_);
    return {};
  }

  Workspace& workspace_;
  DiagnosticEngine& diagnostics_;
  // In a function of TVM 0.25's own flavour, a buffer of one element also stands for the element.
  bool has_elements_ = false;
  // Gives a buffer a pointer of its own, see TirParser::OwnPointer. Null where buffers have that of their declaration.
  std::function<const tir::Var*(const tir::Buffer*)> own_pointer_;

 private:
  bool CheckIndices(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices, Span span, DataType& element);
};

}  // namespace iropt::text
