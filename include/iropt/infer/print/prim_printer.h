// Prints scalar expressions in the form of a version of TVM: with Python's operators if reading them back makes the
// same node, otherwise with functions such as T.Add(...).
#pragma once

#include <cstdint>
#include <unordered_map>

#include "iropt/infer/print/print_names.h"
#include "iropt/ir/module.h"
#include "iropt/op/operators.h"
#include "iropt/support/file.h"
#include "iropt/support/function_ref.h"
#include "iropt/support/text_version.h"

namespace iropt {

// The numbers of the strings of several lines in the metadata section of a text.
using StringNumbers = std::unordered_map<const tir::StringImm*, int64_t>;

// The dialect of the printed text. It decides how numbers look, T.int64(3) and T.bool(True) or 3 and True; and how wide
// a plain number is: 32 bits in T.func_attr({"x": 1}), 64 in R.func_attr({"x": 1}).
enum class ScriptDialect : uint8_t { kTir, kRelax };

// The output buffer, and the names in it. Without a module, types and expressions are printed for messages: global
// infos are printed in full, and unknown names are left out.
struct PrintTarget {
  const Module* module;
  OutputStream& out;
  PrintNames& names;
  TextVersion version = TextVersion::kV0_18;
  // Signatures name their symbolic variables in brackets, def main[n](x: R.Tensor((n,))); only from version 0.27 on.
  bool pep695 = false;
  // Strings that are printed as references to the metadata section; null for none.
  const StringNumbers* strings = nullptr;

  bool for_messages() const { return module == nullptr; }
  // Returns whether the text is that of version `first` or newer.
  bool Since(TextVersion first) const { return version >= first; }
  PrintTarget To(OutputStream& other) const { return {module, other, names, version, pep695, strings}; }
};

// The name of a dtype in the text of the version; "void" for that of nothing.
std::string DTypeName(DataType dtype, TextVersion version);
// The storage scope of a pointer to the description of a tensor, T.TensorMap().
inline constexpr std::string_view kTensorMapScope = "tensormap";

// A Python string literal with TVM's escapes.
void PrintString(std::string_view text, OutputStream& out);
// A floating point literal as TVM prints it: one decimal if the value is integral, else 17 significant digits;
// infinities and NaN as strings.
void PrintFloat(double value, OutputStream& out);

// Defines variables and buffers that are used without a definition, which TVM's text declares where they are used.
class FreeNames {
 public:
  virtual ~FreeNames() noexcept(false) = default;  // as that of an OutputStream
  virtual std::string_view Define(const tir::Var* var) = 0;
  virtual std::string_view Define(const tir::Buffer* buffer) = 0;
};

class PrimPrinter {
 public:
  // Without `free`, nodes without a name are printed by their hint.
  PrimPrinter(PrintTarget& context, ScriptDialect mode, FreeNames* free = nullptr)
      : context_(context), out_(context.out), mode_(mode), free_(free) {}

  void Print(const PrimExpr* expr) { Print(expr, Precedence::kLambda); }
  // With parentheses if the operator of `expr` binds weaker than `least`.
  void Print(const PrimExpr* expr, Precedence least);
  // "a, b, c"
  void PrintItems(std::span<const PrimExpr* const> exprs);
  // "[a, b]"
  void PrintList(std::span<const PrimExpr* const> exprs);
  // "(a,)", "(a, b)"
  void PrintTuple(std::span<const PrimExpr* const> exprs);
  void PrintVar(const tir::Var* var) { out_.Append(NameOf(var)); }
  // The buffer itself: A, or x.buffer for a scalar, whose name stands for its element.
  void PrintBuffer(const tir::Buffer* buffer) {
    out_.Append(NameOf(buffer));
    if (IsPrintedAsScalar(*buffer)) out_.Append(".buffer");
  }
  bool IsPrintedAsScalar(const tir::Buffer& buffer) const;
  // The target of a load or a store: A[i, j:j + 4].
  void PrintAccess(const tir::Buffer* buffer, std::span<const PrimExpr* const> indices);
  // Prints a region; a range of one element is a plain index.
  void PrintRegion(const tir::BufferRegion* region);
  // min + extent, with the constant that it folds to.
  void PrintEnd(const PrimExpr* min, const PrimExpr* extent);
  void PrintRange(const tir::Range* range);
  void PrintIterVar(const tir::IterVar* iter_var);
  void PrintReducer(const tir::CommReducer* reducer);
  // "float32"
  void PrintDType(DataType dtype) { PrintString(DTypeName(dtype, context_.version), out_); }
  // T.float32
  void PrintDTypeName(DataType dtype);
  // The type of a variable, as in an annotation: T.int32, T.handle("float32", "global").
  void PrintVarType(const tir::Var* var);
  // The arguments of a call that takes any values of Python: operands, keywords. `typed` numbers have their types.
  void PrintOperands(std::span<const PrimExpr* const> operands, bool typed);
  // The expression that creates such a variable: T.int32(), T.handle("float32", "global").
  void PrintVarCreation(const tir::Var* var);

  // For a statement whose parts are evaluated in another order than they are written: names that `expr` uses come
  // before those that are used by the part printed now.
  void set_evaluated_first(const PrimExpr* expr) { evaluated_first_ = expr; }

 private:
  void PrintUngrouped(const PrimExpr* expr);
  void PrintIndices(std::span<const PrimExpr* const> indices);
  void PrintBinary(const tir::BinaryExpr* expr);
  void PrintCall(const tir::Call* call);
  void PrintIntrinsic(const tir::Call* call);
  void PrintStringImm(const tir::StringImm* string);
  void PrintInt(const tir::IntImm* imm);
  void PrintFunction(std::string_view name, std::initializer_list<const PrimExpr*> args);
  void PrintLoad(const tir::BufferLoad* load);
  void PrintLet(const tir::Let* let);
  void PrintReduce(const tir::Reduce* reduce);
  std::string_view NameOf(const tir::Var* var);
  std::string_view NameOf(const tir::Buffer* buffer);
  void DefineFirst();

  // ---- what TVM 0.25 added (form_printer.cpp)
  bool IsPointerCast(const tir::Call& call) const;
  void PrintCallType(const tir::Call& call);
  void PrintPointerType(const tir::PointerInfo& pointer);
  bool StatesPointer(const tir::PointerInfo* pointer) const;

  PrintTarget& context_;
  OutputStream& out_;
  ScriptDialect mode_;
  FreeNames* free_;
  const PrimExpr* evaluated_first_ = nullptr;
  // The dtype that PrintDTypeName printed last, and its name: most numbers of a text have one type.
  DataType last_dtype_;
  std::string last_dtype_name_;
};

void PrintPrimExpr(const PrimExpr* expr, PrintTarget& context, ScriptDialect mode);

// The operand of T.cuda.func_call that is always a literal, also if it has several lines; null for other calls.
const tir::StringImm* SourceCodeOf(const tir::Call* call);

// Calls `var` and `buffer` for every name that the text of an expression has, in the order in which the expression is
// evaluated: also for a variable where the expression defines it, and for a buffer at each access.
void ForEachPrimName(const PrimExpr* expr, FunctionRef<void(const tir::Var*)> var,
                     FunctionRef<void(const tir::Buffer*)> buffer);

}  // namespace iropt
