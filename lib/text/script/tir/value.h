// What an expression of a loop-level function evaluates to while it is read. As in Python, a number that is written in
// the text has no element type of its own until an expression takes it in.
#pragma once

#include <span>
#include <string_view>

#include "iropt/ir/attr.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/expr.h"

namespace iropt::text {

struct Value {
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,  // Python's own
    kPrim,    // a scalar expression
    kBuffer,  // a buffer as a whole
    kRegion,  // A[0:4, i] with slices: a part of a buffer, or the vector loaded from there
    kIterVar,
    kRange,
    kReducer,  // T.comm_reducer(...)
    kFunc,     // a function of the module
    kAttr,     // T.target(...), T.index_map(...), a dictionary
    kDType,    // T.float32 that is not called
    kTuple,
    kList,
    kArray  // what TVM itself keeps as a list: a shape, the variables of several loops
  };
  struct Items {
    const Value* first;
    uint32_t count;
  };
  struct Text {
    const char* data;
    uint32_t size;
  };

  Kind kind = Kind::kNone;
  Span span;
  union {
    bool boolean;
    int64_t integer;
    double real;
    Text text;
    const PrimExpr* prim;
    const tir::Buffer* buffer;
    const tir::BufferRegion* region;
    const tir::IterVar* iter_var;
    const tir::Range* range;
    const tir::CommReducer* reducer;
    const GlobalVar* func;
    const Attr* attr;
    DataType dtype;
    Items list;
  };

  Value() : integer(0) {}
  explicit Value(const PrimExpr* e) : kind(Kind::kPrim), span(e->span()), prim(e) {}
  static Value Bool(bool b, Span s) {
    return Make(Kind::kBool, s, [&](Value& v) { v.boolean = b; });
  }
  static Value Int(int64_t i, Span s) {
    return Make(Kind::kInt, s, [&](Value& v) { v.integer = i; });
  }
  static Value Float(double d, Span s) {
    return Make(Kind::kFloat, s, [&](Value& v) { v.real = d; });
  }
  static Value String(std::string_view t, Span s) {
    return Make(Kind::kString, s, [&](Value& v) { v.text = {t.data(), static_cast<uint32_t>(t.size())}; });
  }

  bool is(Kind k) const { return kind == k; }
  bool is_number() const { return kind == Kind::kBool || kind == Kind::kInt || kind == Kind::kFloat; }
  bool is_list() const { return kind >= Kind::kTuple && kind <= Kind::kArray; }
  std::string_view string() const { return {text.data, text.size}; }
  std::span<const Value> items() const { return {list.first, list.count}; }

 private:
  template <class F>
  static Value Make(Kind kind, Span span, F&& fill) {
    Value v;
    v.kind = kind;
    v.span = span;
    fill(v);
    return v;
  }
};

// A name that stands for no node of the IR: a list, or a number or text that T.meta_var keeps out of the function.
struct NamedValue : NoneAttr {
  Value value;
  explicit NamedValue(const Value& v) : value(v) {}
};

}  // namespace iropt::text
