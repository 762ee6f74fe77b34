// The tables of what T.name means. Names are looked up by binary search.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "parser.h"

namespace iropt::text {

inline bool Give(const PrimExpr* e, Value& out) {
  if (e) out = Value(e);
  return e != nullptr;
}

template <class T>
const PrimExpr* Spanned(T* node, Span span) {
  node->set_span(span);
  return node;
}

// Functions of T that make expressions, other than calls of intrinsics.
struct TirFunctions {
  using Make = bool (*)(TirParser& parser, TirArgs& args, Value& out);
  struct Entry {
    std::string_view name;
    Make make;
    bool ignores_dtype = false;
  };
  // Null where there is none.
  static const Entry* Find(std::string_view name);
  static void Names(std::vector<std::string_view>& names);

  static bool MakeLet(TirParser& parser, const Value& name, const Value& value, const Value& body, Span span,
                      Value& out);

 private:
  static std::span<const Entry> Table();

  template <NodeKind K>
  static bool Node(TirParser& parser, TirArgs& args, Value& out);
  template <NodeKind K>
  static bool Folding(TirParser& parser, TirArgs& args, Value& out);
  template <char Which>
  static bool Rounding(TirParser& parser, TirArgs& args, Value& out);
  template <TokenKind Op>
  static bool Bitwise(TirParser& parser, TirArgs& args, Value& out);
  template <bool Max>
  static bool Limit(TirParser& parser, TirArgs& args, Value& out);
  static bool Operands(TirParser& parser, TirArgs& args, std::string_view what, const PrimExpr*& a, const PrimExpr*& b);
  static bool Unary(TirParser& parser, TirArgs& args, std::string_view what, const PrimExpr*& x);
  static bool Abs(TirParser& parser, TirArgs& args, Value& out);
  static bool Broadcast(TirParser& parser, TirArgs& args, Value& out);
  static bool Buffer(TirParser& parser, TirArgs& args, Value& out);
  static bool BufferLoad(TirParser& parser, TirArgs& args, Value& out);
  static bool Call(TirParser& parser, TirArgs& args, Value& out);
  static bool UnknownIntrinsic(TirParser& p, std::string_view name, Span span);
  static bool CallIntrin(TirParser& parser, TirArgs& args, Value& out);
  static bool Cast(TirParser& parser, TirArgs& args, Value& out);
  static bool CeilDiv(TirParser& parser, TirArgs& args, Value& out);
  static bool Convert(TirParser& parser, TirArgs& args, Value& out);
  static bool FloatImm(TirParser& parser, TirArgs& args, Value& out);
  static bool IfThenElse(TirParser& parser, TirArgs& args, Value& out);
  static bool Infinity(TirParser& parser, TirArgs& args, Value& out);
  static bool IntImm(TirParser& parser, TirArgs& args, Value& out);
  static bool IsFinite(TirParser& parser, TirArgs& args, Value& out);
  static bool IsInf(TirParser& parser, TirArgs& args, Value& out);
  static bool IsNan(TirParser& parser, TirArgs& args, Value& out);
  static bool IterVar(TirParser& parser, TirArgs& args, Value& out);
  static bool Let(TirParser& parser, TirArgs& args, Value& out);
  static bool Likely(TirParser& parser, TirArgs& args, Value& out);
  static bool Not(TirParser& parser, TirArgs& args, Value& out);
  static bool Ramp(TirParser& parser, TirArgs& args, Value& out);
  static bool Range(TirParser& parser, TirArgs& args, Value& out);
  static bool Reduce(TirParser& parser, TirArgs& args, Value& out);
  static bool Reinterpret(TirParser& parser, TirArgs& args, Value& out);
  static bool Select(TirParser& parser, TirArgs& args, Value& out);
  static bool Shuffle(TirParser& parser, TirArgs& args, Value& out);
  static bool StringImm(TirParser& parser, TirArgs& args, Value& out);
  template <bool Size>
  static bool Var(TirParser& parser, TirArgs& args, Value& out);
  static const PrimExpr* AbsOf(TirParser& parser, const PrimExpr* x, Span span);
  static const PrimExpr* IsNanOf(TirParser& parser, const PrimExpr* x, Span span);
  static const PrimExpr* IsInfOf(TirParser& parser, const PrimExpr* x, Span span);
};

// The data type that T.<name> names, with the spellings of all versions; none for T.handle.
std::optional<DataType> TirDTypeName(std::string_view name);

// Names after T. that only statements have, for messages.
std::vector<std::string_view> TirConstructNames();

}  // namespace iropt::text
