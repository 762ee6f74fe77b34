// What T.name(...) means as a statement. Private to the reader of loop-level functions.
#pragma once

#include <span>
#include <string_view>

#include "functions.h"
#include "iropt/ir/tir/stmt.h"

namespace iropt::text {

struct TirConstructs {
  using Read = bool (*)(TirParser& parser, TirArgs& args, Value& result);
  struct Entry {
    std::string_view name;
    Read read;
  };
  static std::span<const Entry> Table();
  static Read Find(std::string_view name);

  // ---- What belongs to a block
  static bool OpenBlock(TirParser& p, TirArgs& args, Value&);
  static bool Init(TirParser& p, TirArgs& args, Value&);
  static bool Where(TirParser& p, TirArgs& args, Value&);
  template <bool Writes>
  static bool Regions(TirParser& p, TirArgs& args, Value&);
  template <bool Merges>
  static bool BlockAttr(TirParser& p, TirArgs& args, Value&);
  template <tir::IterVarType Type>
  static bool Axis(TirParser& p, TirArgs& args, Value& result);
  static bool Remap(TirParser& p, TirArgs& args, Value& result);
  template <bool Anywhere>
  static bool AllocBuffer(TirParser& p, TirArgs& args, Value& result);
  static bool MatchBuffer(TirParser& p, TirArgs& args, Value& result);

  // ---- Statements with a body
  static bool Allocate(TirParser& p, TirArgs& args, Value& result);
  static bool AllocateConst(TirParser& p, TirArgs& args, Value& result);
  static bool Assert(TirParser& p, TirArgs& args, Value&);
  static bool AttrStmt(TirParser& p, TirArgs& args, Value&);
  static bool DeclBuffer(TirParser& p, TirArgs& args, Value& result);
  static bool LaunchThread(TirParser& p, TirArgs& args, Value& result);
  static bool LetStmt(TirParser& p, TirArgs& args, Value& result);
  static bool OldLet(TirParser& p, TirArgs& args, Value& result);
  static bool Realize(TirParser& p, TirArgs& args, Value&);
  static bool While(TirParser& p, TirArgs& args, Value&);
  static bool If(TirParser& p, TirArgs& args, Value&);
  template <bool Else>
  static bool Branch(TirParser& p, TirArgs& args, Value&);

  // ---- Others
  static bool EnvThread(TirParser& p, TirArgs& args, Value& result);
  static bool Evaluate(TirParser& p, TirArgs& args, Value&);
  static bool FuncAttr(TirParser& p, TirArgs& args, Value&);
  static bool MetaVar(TirParser& p, TirArgs& args, Value& result);
  static bool BufferStore(TirParser& p, TirArgs& args, Value&);

  static tir::BlockScope* BlockOf(TirParser& p, const TirArgs& args, std::string_view what);
  static const Node* AttrNode(TirParser& p, const Value& value);
  static tir::IterVar* ThreadOf(TirParser& p, const Value& value, DataType dtype);
  static bool SetExtent(TirParser& p, tir::IterVar* thread, const PrimExpr* extent, Span span);
};

inline Value VarValue(const tir::Var* var) { return Value(static_cast<const PrimExpr*>(var)); }

}  // namespace iropt::text
