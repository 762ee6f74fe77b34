// Scalar expressions as text: only the necessary parentheses, and every tree of nodes reads back as itself.
#include <random>
#include <string>

#include "catch.h"
#include "iropt/ir/context.h"
#include "iropt/ir/structural.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/text/script/parser.h"
#include "iropt/text/script/printer.h"

using namespace iropt;

namespace {

// A function of a, b, c (int32), f, g (float32), p and q (bool) that evaluates one expression.
struct Scalars {
  Workspace workspace;
  std::vector<const tir::Var*> params;

  Scalars() {
    for (const auto* name : {"a", "b", "c"}) params.push_back(workspace.NewPrimVar(name, DataType::Int(32)));
    for (const auto* name : {"f", "g"}) params.push_back(workspace.NewPrimVar(name, DataType::Float(32)));
    for (const auto* name : {"p", "q"}) params.push_back(workspace.NewPrimVar(name, DataType::Bool()));
  }
  const PrimExpr* a() { return params[0]; }
  const PrimExpr* b() { return params[1]; }
  const PrimExpr* c() { return params[2]; }
  const PrimExpr* p() { return params[5]; }
  const PrimExpr* q() { return params[6]; }
  const PrimExpr* Int(int64_t value) { return workspace.New<tir::IntImm>(DataType::Int(32), value); }
  const PrimExpr* Binary(NodeKind kind, const PrimExpr* x, const PrimExpr* y) {
    return workspace.New<tir::BinaryExpr>(kind, x, y);
  }

  Module MakeModule(const PrimExpr* e) {
    const std::vector<const tir::Buffer*> buffers(params.size(), nullptr);
    const Type* none = TupleType::Get({});
    std::vector<const Type*> types;
    for (const tir::Var* v : params) types.push_back(PrimType::Get(v->dtype));
    const DictAttr* attrs = DictAttr::Empty()->With("global_symbol", StrAttr::Get("main"));
    const auto* func =
        workspace.New<PrimFunc>(workspace.Copy(params), workspace.Copy(buffers), workspace.New<tir::Evaluate>(e), none,
                                attrs, FuncType::Get(types, none, true));
    Module module;
    module.Set(GlobalVar::Get("main"), func, nullptr);
    return module;
  }
};

// The text of the expression within T.evaluate(...).
std::string TextOf(const Module& module) {
  const std::string text = ModuleToString(module);
  const std::string before = "T.evaluate(";
  const size_t begin = text.find(before) + before.size();
  return text.substr(begin, text.rfind(')') - begin);
}

std::string Print(const PrimExpr* e, Scalars& s) { return TextOf(s.MakeModule(e)); }

// Any tree; constants are frequent, so that much of it would fold.
class Trees {
 public:
  Trees(Scalars& scalars, uint32_t seed) : s_(scalars), random_(seed) {}

  const PrimExpr* Integer(int depth) {
    static constexpr NodeKind kKinds[] = {NodeKind::kAdd, NodeKind::kSub,      NodeKind::kMul,
                                          NodeKind::kDiv, NodeKind::kMod,      NodeKind::kMin,
                                          NodeKind::kMax, NodeKind::kFloorDiv, NodeKind::kFloorMod};
    if (depth == 0 && Below(2)) return s_.params[Below(3)];
    if (depth == 0) return s_.Int(static_cast<int64_t>(Below(5)) - 2);
    if (Below(8) == 0) return s_.workspace.New<tir::Select>(Truth(depth - 1), Integer(depth - 1), Integer(depth - 1));
    if (Below(8) == 0) return s_.workspace.New<tir::Cast>(DataType::Int(32), Real(depth - 1));
    return s_.Binary(kKinds[Below(std::size(kKinds))], Integer(Below(depth)), Integer(depth - 1));
  }
  const PrimExpr* Truth(int depth) {
    if (depth == 0 && Below(4)) return s_.params[5 + Below(2)];
    if (depth == 0) return s_.workspace.New<tir::IntImm>(DataType::Bool(), Below(2));
    if (Below(4) == 0) return s_.workspace.New<tir::Not>(Truth(depth - 1));
    if (Below(2) == 0)
      return s_.Binary(Below(2) ? NodeKind::kAnd : NodeKind::kOr, Truth(Below(depth)), Truth(depth - 1));
    const auto kind = static_cast<NodeKind>(static_cast<uint32_t>(NodeKind::kEQ) + Below(6));
    return Below(4) ? s_.Binary(kind, Integer(Below(depth)), Integer(depth - 1))
                    : s_.Binary(kind, Truth(Below(depth)), Truth(depth - 1));
  }

 private:
  const PrimExpr* Real(int depth) {
    static constexpr NodeKind kKinds[] = {NodeKind::kAdd, NodeKind::kSub, NodeKind::kMul,
                                          NodeKind::kDiv, NodeKind::kMin, NodeKind::kMax};
    if (depth == 0 && Below(2)) return s_.params[3 + Below(2)];
    if (depth == 0) return s_.workspace.New<tir::FloatImm>(DataType::Float(32), static_cast<double>(Below(3)));
    return s_.Binary(kKinds[Below(std::size(kKinds))], Real(Below(depth)), Real(depth - 1));
  }
  uint32_t Below(size_t n) { return static_cast<uint32_t>(random_() % n); }

  Scalars& s_;
  std::mt19937 random_;
};

}  // namespace

TEST_CASE("parentheses are printed only if the tree needs them") {
  Scalars s;
  const auto add = [&](auto x, auto y) { return s.Binary(NodeKind::kAdd, x, y); };
  const auto sub = [&](auto x, auto y) { return s.Binary(NodeKind::kSub, x, y); };
  const auto mul = [&](auto x, auto y) { return s.Binary(NodeKind::kMul, x, y); };
  const auto less = [&](auto x, auto y) { return s.Binary(NodeKind::kLT, x, y); };
  const auto both = [&](auto x, auto y) { return s.Binary(NodeKind::kAnd, x, y); };
  const auto either = [&](auto x, auto y) { return s.Binary(NodeKind::kOr, x, y); };
  const auto negated = [&](auto x) { return s.workspace.New<tir::Not>(x); };
  const auto a = s.a(), b = s.b(), c = s.c(), p = s.p(), q = s.q();
  const std::vector<std::pair<const PrimExpr*, std::string>> rows = {
      {sub(sub(a, b), c), "a - b - c"},
      {sub(a, sub(b, c)), "a - (b - c)"},
      {add(a, mul(b, c)), "a + b * c"},
      {mul(add(a, b), c), "(a + b) * c"},
      {mul(a, s.Binary(NodeKind::kFloorMod, b, c)), "a * (b % c)"},
      {s.Binary(NodeKind::kFloorDiv, mul(a, b), c), "a * b // c"},
      {both(either(p, q), p), "(p or q) and p"},
      {either(both(p, q), p), "p and q or p"},
      {both(p, both(q, p)), "p and (q and p)"},
      {negated(both(p, q)), "not (p and q)"},
      {both(negated(p), q), "not p and q"},
      {negated(less(a, b)), "not a < b"},
      {s.Binary(NodeKind::kEQ, negated(p), q), "(not p) == q"},
      {less(add(a, b), c), "a + b < c"},
      {s.Binary(NodeKind::kEQ, less(a, b), less(b, c)), "a < b == (b < c)"},
      {s.Binary(NodeKind::kMin, add(a, b), c), "T.min(a + b, c)"},
      {s.Binary(NodeKind::kDiv, a, b), "T.Div(a, b)"},
      {s.Binary(NodeKind::kMod, a, b), "T.truncmod(a, b)"},
      {add(s.Int(1), s.Int(2)), "T.Add(1, 2)"},
      {add(s.Int(INT32_MAX), s.Int(1)), "T.Add(2147483647, 1)"},
      {add(a, s.Int(0)), "T.Add(a, 0)"},
      {s.Binary(NodeKind::kFloorDiv, a, s.Int(0)), "T.FloorDiv(a, 0)"},
      {s.Binary(NodeKind::kMin, a, a), "T.Min(a, a)"},
      {s.Binary(NodeKind::kMod, s.Int(7), s.Int(2)), "T.Mod(7, 2)"},
      {less(s.Int(1), s.Int(2)), "T.LT(1, 2)"},
      {mul(a, s.Int(-1)), "a * -1"},
  };
  for (const auto& [e, text] : rows) CHECK(Print(e, s) == text);
}

TEST_CASE("every tree of operations reads back as itself") {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    Scalars s;
    Trees trees(s, seed);
    const PrimExpr* e = seed % 2 ? trees.Integer(5) : trees.Truth(5);
    const Module module = s.MakeModule(s.workspace.New<tir::Broadcast>(e->dtype.with_lanes(4), e, s.Int(4)));
    const std::string text = ModuleToString(module);
    DiagnosticBuffer buffer;
    DiagnosticEngine diagnostics(&buffer);
    const std::optional<Module> again = ParseModule(text, 1, {}, diagnostics);
    INFO(text);
    REQUIRE(buffer.diagnostics().empty());
    REQUIRE(again);
    CHECK(StructuralEqual(module, *again));
    CHECK(ModuleToString(*again) == text);
  }
}
