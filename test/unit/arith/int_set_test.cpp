// Sets with symbolic ends: each rule, and all of them against brute force.
#include "iropt/arith/int_set.h"

#include <random>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/ir/context.h"
#include "iropt/ir/module.h"
#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/op.h"

namespace iropt::arith::test {
namespace {

class Sets {
 protected:
  Sets() : scope_(context_), n(context_.NewSymVar("n")), i(context_.NewSymVar("i")), j(context_.NewSymVar("j")) {}

  const PrimExpr* Int(int64_t value) const { return make.Int(value); }
  IntervalSet Between(int64_t min, int64_t max) const { return IntervalSet::Interval(Int(min), Int(max)); }
  std::string Ends(IntervalSet set) {
    if (set.is_nothing()) return "nothing";
    const auto show = [&](const PrimExpr* end, const char* infinite) {
      return end ? Show(analyzer.Simplify(end)) : std::string(infinite);
    };
    return show(set.min(), "-inf") + ".." + show(set.max(), "inf");
  }
  std::string Of(const PrimExpr* e, const VarDomains& domains) { return Ends(EvalSet(e, domains, analyzer)); }

  IRContext context_;
  IRContext::Scope scope_;
  PrimBuilder make;
  Analyzer analyzer{make, Analyzer::SymVars::kAny};
  const tir::Var* n;
  const tir::Var* i;
  const tir::Var* j;
};

// Expressions over i, j and n, with constants that make quotients interesting.
class Exprs {
 public:
  Exprs(unsigned seed, std::vector<const tir::Var*> vars) : random_(seed), vars_(std::move(vars)) {}

  const PrimExpr* Make(int depth) {
    static constexpr NodeKind kKinds[] = {NodeKind::kAdd,      NodeKind::kSub, NodeKind::kMul, NodeKind::kFloorDiv,
                                          NodeKind::kFloorMod, NodeKind::kDiv, NodeKind::kMod, NodeKind::kMin,
                                          NodeKind::kMax,      NodeKind::kLT};
    if (depth == 0 || Pick(5) == 0) return Pick(3) ? vars_[Pick(vars_.size())] : Constant();
    if (Pick(8) == 0)
      return make_.Keep(
          tir::Select(make_.Node(NodeKind::kLT, Make(depth - 1), Make(depth - 1)), Make(depth - 1), Make(depth - 1)));
    const NodeKind kind = kKinds[Pick(std::size(kKinds))];
    if (kind == NodeKind::kLT) return make_.Cast(DataType::Int(64), make_.Node(kind, Make(depth - 1), Make(depth - 1)));
    const bool divides = kind >= NodeKind::kDiv && kind <= NodeKind::kFloorMod;
    const PrimExpr* a = Make(depth - 1);
    return make_.Node(kind, a, divides && Pick(4) ? Constant() : Make(depth - 1));
  }
  size_t Pick(size_t count) { return random_() % count; }

 private:
  const PrimExpr* Constant() {
    static constexpr int64_t kRelated[] = {1, 2, 3, 4, 6, 8, 12, -1, -2, -3};
    return make_.Int(kRelated[Pick(std::size(kRelated))]);
  }
  std::mt19937 random_;
  std::vector<const tir::Var*> vars_;
  PrimBuilder make_;
};

}  // namespace

TEST_CASE_METHOD(Sets, "ranges become intervals, and points if the extent is 1") {
  CHECK(Ends(IntervalSet::FromRange(Int(2), Int(5), make)) == "2..6");
  CHECK(IntervalSet::FromRange(n, Int(1), make).is_point());
  CHECK(IntervalSet::Everything().is_everything());
  CHECK(IntervalSet::Nothing().is_nothing());
  CHECK_FALSE(IntervalSet::Nothing().is_bounded());
  CHECK_FALSE(IntervalSet::Interval(Int(1), nullptr).is_everything());
  CHECK(
      IntervalSet::Interval(n, make.Node(NodeKind::kSub, make.Node(NodeKind::kAdd, n, i), i)).CanProvePoint(analyzer));
}

TEST_CASE_METHOD(Sets, "unions and intersections have simplified ends") {
  CHECK(Ends(Union(Between(0, 3), Between(8, 9), analyzer)) == "0..9");
  CHECK(Ends(Union(IntervalSet::Nothing(), Between(8, 9), analyzer)) == "8..9");
  CHECK(Ends(Union(Between(0, 3), IntervalSet::Interval(Int(-1), nullptr), analyzer)) == "-1..inf");
  CHECK(Ends(Union(IntervalSet::Point(n), IntervalSet::Point(make.Add(n, Int(3))), analyzer)) == "n..n + 3");
  CHECK(Ends(Intersect(Between(0, 3), Between(2, 9), analyzer)) == "2..3");
  CHECK(Ends(Intersect(Between(0, 3), Between(4, 9), analyzer)) == "nothing");
  CHECK(Ends(Intersect(Between(0, 3), IntervalSet::Everything(), analyzer)) == "0..3");
  CHECK(Ends(Intersect(Between(0, 3), IntervalSet::Nothing(), analyzer)) == "nothing");
  CHECK(Ends(Intersect(IntervalSet::Nothing(), Between(0, 3), analyzer)) == "nothing");
  CHECK(Ends(Intersect(IntervalSet::Interval(n, nullptr), IntervalSet::Interval(nullptr, make.Sub(n, Int(1))),
                       analyzer)) == "nothing");
}

TEST_CASE_METHOD(Sets, "a variable without values leaves a sum without values") {
  const VarDomains domains = {{i, IntervalSet::Nothing()}};
  CHECK(EvalSet(make.Add(i, n), domains, analyzer).is_nothing());
  CHECK(EvalSet(make.Add(n, i), domains, analyzer).is_nothing());
}

TEST_CASE_METHOD(Sets, "expressions are relaxed over the domains of their variables") {
  const VarDomains domains{{i, IntervalSet::FromRange(Int(0), Int(16), make)}};
  CHECK(Of(make.Add(make.Mul(i, Int(4)), j), domains) == "j..j + 60");
  CHECK(Of(make.Sub(n, i), domains) == "n - 15..n");
  CHECK(Of(make.Mul(i, Int(-2)), domains) == "-30..0");
  CHECK(Of(make.FloorDiv(i, Int(4)), domains) == "0..3");
  CHECK(Of(make.FloorMod(i, Int(4)), domains) == "0..3");
  CHECK(Of(make.FloorMod(i, Int(32)), domains) == "0..15");
  CHECK(Of(make.FloorMod(make.Add(i, Int(32)), Int(16)), domains) == "0..15");
  CHECK(Of(make.TruncMod(i, Int(4)), domains) == "0..3");
  CHECK(Of(make.TruncMod(make.Sub(i, Int(8)), Int(4)), domains) == "-3..3");
  CHECK(Of(make.Min(i, Int(3)), domains) == "0..3");
  CHECK(Of(make.Max(i, n), {{i, IntervalSet::Everything()}}) == "n..inf");
  // Nothing is rebuilt if no variable is relaxed.
  const PrimExpr* fixed = make.Node(NodeKind::kAdd, make.Node(NodeKind::kMul, j, Int(1)), n);
  CHECK(EvalSet(fixed, domains, analyzer).min() == fixed);
}

TEST_CASE_METHOD(Sets, "domains may depend on each other") {
  // for i in range(8): for j in range(i, i + 4)
  const VarDomains domains{{i, IntervalSet::FromRange(Int(0), Int(8), make)},
                           {j, IntervalSet::FromRange(i, Int(4), make)}};
  CHECK(Of(j, domains) == "0..10");
  // A circle ends.
  const VarDomains circle{{i, IntervalSet::FromRange(j, Int(4), make)}, {j, IntervalSet::FromRange(i, Int(4), make)}};
  CHECK(EvalSet(i, circle, analyzer).is_bounded());
}

TEST_CASE_METHOD(Sets, "vectors stand for all of their lanes") {
  const PrimExpr* lanes = make.Int(4, DataType::Int(32));
  const VarDomains domains{{i, IntervalSet::FromRange(Int(0), Int(2), make)}};
  CHECK(Of(make.Ramp(make.Mul(i, Int(4)), Int(1), lanes), domains) == "0..7");
  CHECK(Of(make.Ramp(n, Int(-2), lanes), domains) == "n - 6..n");
  CHECK(Of(make.Broadcast(make.Add(n, i), lanes), domains) == "n..n + 1");
  const DataType scalable = DataType::Int(64, -4);
  CHECK(Of(make.Keep(tir::Ramp(scalable, n, Int(1), make.Lanes(scalable))), domains) == "n..inf");
}

TEST_CASE_METHOD(Sets, "calls may have any value, and so may loads with varying indices") {
  Workspace workspace;
  const PrimExpr* call = workspace.New<tir::Call>(DataType::Int(64), GetOp(op::kTirLikely), List<const PrimExpr*>());
  CHECK(EvalSet(call, {}, analyzer).is_everything());
  const auto load = [&](const PrimExpr* index) {
    return workspace.New<tir::BufferLoad>(DataType::Int(64), nullptr,
                                          workspace.Copy(std::vector<const PrimExpr*>{index}));
  };
  const VarDomains domains{{i, IntervalSet::FromRange(Int(0), Int(2), make)}};
  CHECK(EvalSet(load(n), domains, analyzer).is_point());
  CHECK(EvalSet(load(i), domains, analyzer).is_everything());
}

TEST_CASE_METHOD(Sets, "a region is relaxed dimension by dimension, and covered by ranges") {
  const tir::Range rows(make.Mul(i, Int(4)), Int(4));
  const tir::Range columns(n, Int(1));
  const VarDomains domains{{i, IntervalSet::FromRange(Int(0), Int(8), make)}};
  const tir::Range* region[] = {&rows, &columns};
  const std::vector<IntervalSet> sets = EvalSet(region, domains, analyzer);
  REQUIRE(sets.size() == 2);
  CHECK(Ends(sets[0]) == "0..31");
  CHECK(sets[1].is_point());
  const tir::Range whole(Int(0), n);
  CHECK(IsInt(CoverRange(sets[0], whole, analyzer).extent, 32));
  CHECK(CoverRange(IntervalSet::Everything(), whole, analyzer).extent == n);
}

// Every value of the expression is between the ends, for all values of the remaining variables.
TEST_CASE_METHOD(Sets, "no value is outside the set that was found for it") {
  for (unsigned seed = 0; seed < 400; ++seed) {
    Exprs exprs(seed, {i, j, n});
    const PrimExpr* e = exprs.Make(3);
    const int64_t first = static_cast<int64_t>(exprs.Pick(9)) - 4;
    const int64_t extent = 1 + static_cast<int64_t>(exprs.Pick(5));
    // j runs from i on.
    const VarDomains domains{{i, IntervalSet::FromRange(Int(first), Int(extent), make)},
                             {j, IntervalSet::FromRange(i, Int(3), make)}};
    const IntervalSet set = EvalSet(e, domains, analyzer);
    REQUIRE_FALSE(set.is_nothing());
    for (int64_t vn = -4; vn <= 4; ++vn) {
      const auto min = set.min() ? Eval(set.min(), {{n, vn}}) : std::nullopt;
      const auto max = set.max() ? Eval(set.max(), {{n, vn}}) : std::nullopt;
      for (int64_t vi = first; vi < first + extent; ++vi) {
        for (int64_t vj = vi; vj < vi + 3; ++vj) {
          const auto value = Eval(e, {{i, vi}, {j, vj}, {n, vn}});
          if (!value) continue;
          INFO(Show(e) << " with i=" << vi << " j=" << vj << " n=" << vn << " is " << *value << ", not in "
                       << (set.min() ? Show(set.min()) : "-inf") << " .. " << (set.max() ? Show(set.max()) : "inf"));
          REQUIRE((!min || *min <= *value));
          REQUIRE((!max || *value <= *max));
        }
      }
    }
  }
}

}  // namespace iropt::arith::test
