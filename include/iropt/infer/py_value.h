// The value of an expression of a script, of Relax or TIR, before the reader decides on its node in the IR. As in
// Python, a number in the text has no dtype of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/op/op.h"
#include "iropt/support/inline_vector.h"

namespace iropt {

namespace tir {
struct Buffer;
struct BufferRegion;
struct CommReducer;
struct IterVar;
struct Range;
}  // namespace tir

struct PyValue {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,       // a Python string
    kExpr,         // a Relax expression; a function of the module; a Constant
    kPrim,         // a scalar expression: n + 1, T.int64(3)
    kType,         // R.Tensor(...) as an argument
    kAttr,         // T.target(...), T.index_map(...), I.vdevice(...), a dictionary
    kDType,        // T.float32 that is not called
    kPointerType,  // T.handle("float32").ty
    kBuffer,       // a buffer as a whole
    kRegion,       // A[0:4, i] with slices: a part of a buffer, or the vector loaded from there
    kIterVar,      // T.iter_var(...)
    kRange,        // T.Range(...)
    kReducer,      // T.comm_reducer(...)
    kList,
    kTuple,
    kTvmArray  // a list in TVM's own representation: a shape, the variables of several loops
  };
  struct Items {
    const PyValue* first;
    uint32_t count;
  };
  struct Text {
    const char* data;
    uint32_t size;
  };

  Kind kind = Kind::kNone;
  bool beyond_int64 = false;  // an integer of 2^63 or more, whose bits are in `integer`; elements of constants only
  Span span;
  union {
    bool boolean;
    int64_t integer;
    double real;
    Text text;
    const Expr* expr;
    const PrimExpr* prim;
    const Type* type;
    const Attr* attr;
    DataType dtype;
    const tir::PointerInfo* pointer;
    const tir::Buffer* buffer;
    const tir::BufferRegion* region;
    const tir::IterVar* iter_var;
    const tir::Range* range;
    const tir::CommReducer* reducer;
    Items list;
  };

  PyValue() : integer(0) {}
  // Nodes have spans of their own.
  explicit PyValue(const Expr* e) : kind(Kind::kExpr), span(e->span()), expr(e) {}
  explicit PyValue(const PrimExpr* e) : kind(Kind::kPrim), span(e->span()), prim(e) {}
  PyValue(const Attr* a, Span s) : kind(Kind::kAttr), span(s), attr(a) {}
  PyValue(const Type* t, Span s) : kind(Kind::kType), span(s), type(t) {}
  PyValue(const tir::Buffer* b, Span s) : kind(Kind::kBuffer), span(s), buffer(b) {}
  PyValue(DataType t, Span s) : kind(Kind::kDType), span(s), dtype(t) {}
  PyValue(const tir::PointerInfo* p, Span s) : kind(Kind::kPointerType), span(s), pointer(p) {}
  // A list; it does not own the items.
  PyValue(Kind k, std::span<const PyValue> items, Span s)
      : kind(k), span(s), list{items.data(), static_cast<uint32_t>(items.size())} {}
  static PyValue None(Span s) {
    return Make(Kind::kNone, s, [](PyValue&) {});
  }
  static PyValue Bool(bool b, Span s) {
    return Make(Kind::kBool, s, [&](PyValue& v) { v.boolean = b; });
  }
  static PyValue Int(int64_t i, Span s) {
    return Make(Kind::kInt, s, [&](PyValue& v) { v.integer = i; });
  }
  static PyValue Float(double d, Span s) {
    return Make(Kind::kFloat, s, [&](PyValue& v) { v.real = d; });
  }
  static PyValue String(std::string_view t, Span s) {
    return Make(Kind::kString, s, [&](PyValue& v) { v.text = {t.data(), static_cast<uint32_t>(t.size())}; });
  }

  bool is(Kind k) const { return kind == k; }
  bool is_number() const { return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat; }
  bool is_list() const { return kind >= Kind::kList; }
  std::string_view string() const { return {text.data, text.size}; }
  std::span<const PyValue> items() const { return {list.first, list.count}; }

 private:
  template <class F>
  static PyValue Make(Kind kind, Span span, F&& fill) {
    PyValue v;
    v.kind = kind;
    v.span = span;
    fill(v);
    return v;
  }
};

// The items of a list, or the positional arguments of a call: mostly few.
using PyValues = InlineVector<PyValue, 8>;

struct PyKeyword {
  std::string_view name;
  Span span;  // of the name
  PyValue value;
};

// The arguments of a call in a script.
struct PyArgs {
  PyValues positional;
  std::vector<PyKeyword> keywords;
  Span span;  // of the whole call
};

// "inf", "-inf", "nan" and their like, for which Python has no literal, in the syntax of its float(...). Nothing if the
// text is another one.
std::optional<double> SpecialFloat(std::string_view text);

// Builds the call `R.op(positional..., keywords...)`: binds the arguments to the script signature, converts literals to
// the operand and attribute kinds, applies defaults and TVM's normalization of short forms (strides=1 is strides=[1,
// 1]). The call's type is not inferred; tuples made here have a type if all their fields have one. The names of devices
// and device meshes are looked up in `module`. Null after a located error was reported (unknown or missing argument
// with the nearest name, wrong literal kind).
const Call* BuildOpCall(const OpInfo& op, std::span<const PyValue> positional, std::span<const PyKeyword> keywords,
                        Span span, Workspace& workspace, DiagnosticEngine& diagnostics, const Module* module = nullptr);

// The Relax expression of a literal by default: a tuple, a shape, a PrimValue, a StringImm. Null if it has none.
const Expr* ToRelaxExpr(const PyValue& value, Workspace& workspace);
// The attribute of a literal in a dictionary. Null if it has none.
const Attr* ToLiteralAttr(const PyValue& value);

}  // namespace iropt
