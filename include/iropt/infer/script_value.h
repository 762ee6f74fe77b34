// Arguments of script calls as the reader sees them, before the operator table says what they become.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/op/op.h"

namespace iropt {

// A Python value in the argument list of R.op(...): an expression, a literal, or a list of such values.
struct ScriptValue {
  enum class Kind : uint8_t { kNone, kBool, kInt, kFloat, kString, kExpr, kPrim, kType, kAttr, kList, kTuple };
  Kind kind = Kind::kNone;
  bool beyond_int64 = false;  // an integer from 2^63 on, of which `integer` has the bits; elements of constants only
  Span span;
  union {
    bool boolean;
    int64_t integer;
    double real;
    const Expr* expr;      // graph-level expression; a global function; a Constant
    const PrimExpr* prim;  // scalar expression with variables (n + 1), or T.int64(3)
    const Type* type;
    const Attr* attr;  // T.index_map(...), I.vdevice(...), dictionaries
    struct {
      const ScriptValue* items;
      uint32_t count;
    } list;
    struct {
      const char* data;
      uint32_t size;
    } text;
  };
  ScriptValue() : integer(0) {}
  std::span<const ScriptValue> items() const { return {list.items, list.count}; }
  std::string_view string() const { return {text.data, text.size}; }
};

struct ScriptKeyword {
  std::string_view name;
  Span name_span;
  ScriptValue value;
};

// Builds the call that `R.op(positional..., keywords...)` means: binds to the script signature, converts literals to
// the operand and attribute kinds, applies defaults and TVM's normalization of short forms (strides=1 is strides=[1,
// 1]). The call's type is not inferred; tuples made here have a type where all their fields have one. `module` is where
// the names of devices and device meshes are looked up. Null after a located error was reported (unknown or missing
// argument with the nearest name, wrong literal kind).
const Call* BuildOpCall(const OpInfo& op, std::span<const ScriptValue> positional,
                        std::span<const ScriptKeyword> keywords, Span span, Workspace& workspace,
                        DiagnosticEngine& diagnostics, const Module* module = nullptr);

// The graph-level expression that a literal stands for where no operator says otherwise: a tuple, a shape, a PrimValue,
// a StringImm. Null where there is none.
const Expr* ScriptValueToExpr(const ScriptValue& value, Workspace& workspace);
// The attribute that a literal stands for in a dictionary. Null where there is none.
const Attr* ScriptValueToAttr(const ScriptValue& value);

}  // namespace iropt
