// Regions that accesses cover: the expectations of TVM's tests, and random regions against all values.
#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <set>

#include "catch.h"
#include "expr_eval.h"
#include "iropt/arith/iter_map.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/text/script/parser.h"

namespace iropt::arith::test {
namespace {

struct Domain {
  std::string var;
  int64_t extent;
};
// begin:end, as expressions
using Dims = std::vector<std::pair<std::string, std::string>>;
using Ends = std::vector<std::pair<std::string, std::string>>;

class Regions {
 protected:
  const PrimExpr* Parse(const std::string& text) {
    const PrimExpr* e = ParseScalar(text, 0, variables_, workspace_, engine_);
    REQUIRE(e);
    return e;
  }
  const PrimExpr* Int(int64_t value) const { return make_.Int(value, DataType::Int(32)); }

  void Iterate(const std::vector<Domain>& domains) {
    iters_.clear();
    for (const Domain& domain : domains)
      iters_.insert_or_assign(To<tir::Var>(Parse(domain.var)), tir::Range(Int(0), Int(domain.extent)));
  }
  std::vector<const tir::Range*> Region(const Dims& dims) {
    std::vector<const tir::Range*> region;
    for (const auto& [begin, end] : dims) {
      const PrimExpr* min = Parse(begin);
      const PrimExpr* extent = analyzer_.Simplify(make_.Sub(Parse(end), min));
      region.push_back(workspace_.New<tir::Range>(min, extent));
    }
    return region;
  }
  void CheckEnds(const std::vector<IntervalSet>& found, const Ends& expected) {
    REQUIRE(found.size() == expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      INFO("dimension " << i << ": " << Show(found[i].min()) << " to " << Show(found[i].max()));
      CHECK(analyzer_.CanProveEqual(found[i].min(), Parse(expected[i].first)));
      CHECK(analyzer_.CanProveEqual(make_.Add(found[i].max(), Int(1)), Parse(expected[i].second)));
    }
  }
  // Without expected ends, the strict bound is unknown.
  void CheckStrict(const Dims& dims, const Ends& expected, const std::string& condition = "") {
    const auto region = Region(dims);
    const auto found =
        EstimateRegionStrictBound(region, iters_, condition.empty() ? nullptr : Parse(condition), analyzer_);
    REQUIRE(found.has_value() == !expected.empty());
    if (found) CheckEnds(*found, expected);
  }
  void CheckUpper(const Dims& dims, const Ends& expected, const std::string& condition = "") {
    CheckEnds(EstimateRegionUpperBound(Region(dims), iters_, condition.empty() ? nullptr : Parse(condition), analyzer_),
              expected);
  }

  IRContext context_;
  IRContext::Scope scope_{context_};
  DiagnosticBuffer buffer_;
  DiagnosticEngine engine_{&buffer_};
  Workspace workspace_;
  PrimBuilder make_{PrimBuilder(workspace_).Exact()};
  Analyzer analyzer_{make_, Analyzer::SymVars::kAny};
  std::vector<const tir::Var*> variables_;
  IterRanges iters_;
};

TEST_CASE_METHOD(Regions, "regions of one iterator", "[arith]") {
  Iterate({{"i", 64}});
  CheckStrict({{"i", "i + 2"}, {"i + 2", "i + 4"}}, {});
  CheckUpper({{"i", "i + 2"}, {"i + 2", "i + 4"}}, {{"0", "65"}, {"2", "67"}});
  CheckStrict({{"i * 4", "i * 4 + 2"}}, {});
  CheckUpper({{"i * 4", "i * 4 + 2"}}, {{"0", "254"}});
  CheckStrict({{"i * 4", "i * 4 + 8"}}, {{"0", "260"}});
}

TEST_CASE_METHOD(Regions, "regions of several iterators", "[arith]") {
  SECTION("conditions") {
    Iterate({{"i", 16}, {"j", 16}, {"k", 16}});
    const Dims dims = {
        {"i // 4", "i // 4 + 1"}, {"j * 4 + i % 4", "j * 4 + i % 4 + 1"}, {"T.truncdiv(k, 2)", "T.truncdiv(k, 2) + 1"}};
    CheckStrict(dims, {}, "j * 4 + i % 4 > 3");
    CheckUpper(dims, {{"0", "4"}, {"4", "64"}, {"0", "8"}}, "j * 4 + i % 4 > 3");
  }
  SECTION("a split iterator with a condition") {
    Iterate({{"xo", 16}, {"xi", 4}});
    const std::string x = "(xo * 4 + xi)";
    CheckStrict({{x + " * 4", x + " * 4 + 8"}}, {{"0", "256"}}, x + " < 63");
    CheckUpper({{x + " * 4", x + " * 4 + 8"}, {x + " * 3", x + " * 3 + 5"}}, {{"0", "256"}, {"0", "191"}}, x + " < 63");
  }
  SECTION("digits") {
    Iterate({{"x", 32}, {"wid", 64}});
    const auto point = [](const std::string& e) { return std::pair{e, e + " + 1"}; };
    CheckStrict({point("x // 16"), point("x % 16 // 4 * 8 + x % 4 + wid // 32 * 4"), point("wid % 32")},
                {{"0", "2"}, {"0", "32"}, {"0", "32"}});
  }
  SECTION("negative scales") {
    Iterate({{"i", 4}, {"j", 4}});
    CheckStrict({{"1 - i", "5 - i"}, {"20 - j * 4", "36 - j * 4"}}, {{"-2", "5"}, {"8", "36"}});
    CheckStrict({{"20 - j * 4", "21 - j * 4"}}, {});
  }
}

// Sums and digits of three iterators, and a condition.
TEST_CASE_METHOD(Regions, "random regions cover what is accessed", "[arith]") {
  std::mt19937 random(3);
  const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  int strict = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::vector<Domain> domains = {{"i", 1 + pick(4)}, {"j", 1 + pick(4)}, {"k", 2 + pick(5)}};
    Iterate(domains);
    const auto term = [&]() -> std::string {
      static constexpr const char* kTerms[] = {"i", "j", "k", "k // 2", "k % 2", "(i * 4 + j)"};
      return fmt::format("{} * {}", kTerms[pick(6)], pick(6) - 1);
    };
    Dims dims;
    const int ndim = 1 + pick(2);
    for (int d = 0; d < ndim; ++d) {
      std::string begin = term();
      for (int terms = pick(3); terms > 0; --terms) begin += " + " + term();
      dims.emplace_back(begin, fmt::format("{} + {}", begin, 1 + pick(3)));
    }
    const std::string condition = pick(3) ? "" : fmt::format("{} < {}", pick(2) ? "i" : "i * 4 + j", 1 + pick(6));
    const PrimExpr* holds = condition.empty() ? nullptr : Parse(condition);
    const auto region = Region(dims);
    // The accessed elements of the first dimension are enough for the ends, all dimensions for the box.
    std::set<std::vector<int64_t>> accessed;
    for (int64_t a = 0; a < domains[0].extent; ++a)
      for (int64_t b = 0; b < domains[1].extent; ++b)
        for (int64_t c = 0; c < domains[2].extent; ++c) {
          const Env env{{To<tir::Var>(Parse("i")), a}, {To<tir::Var>(Parse("j")), b}, {To<tir::Var>(Parse("k")), c}};
          if (holds && !*Eval(holds, env)) continue;
          std::vector<std::vector<int64_t>> points = {{}};
          for (const tir::Range* range : region) {
            std::vector<std::vector<int64_t>> longer;
            for (int64_t offset = 0; offset < *AsInt(range->extent); ++offset) {
              for (std::vector<int64_t> point : points) {
                point.push_back(*Eval(range->min, env) + offset);
                longer.push_back(std::move(point));
              }
            }
            points = std::move(longer);
          }
          accessed.insert(points.begin(), points.end());
        }
    const auto contains = [](const std::vector<IntervalSet>& box, const std::vector<int64_t>& point) {
      for (size_t d = 0; d < box.size(); ++d) {
        if (point[d] < *Eval(box[d].min(), {}) || point[d] > *Eval(box[d].max(), {})) return false;
      }
      return true;
    };
    INFO(fmt::format("{}:{}, {} dimensions, if {}, extents {} {} {}", dims[0].first, dims[0].second, ndim, condition,
                     domains[0].extent, domains[1].extent, domains[2].extent));
    const auto upper = EstimateRegionUpperBound(region, iters_, holds, analyzer_);
    CHECK(std::ranges::all_of(accessed, [&](const auto& point) { return contains(upper, point); }));
    const auto box = EstimateRegionStrictBound(region, iters_, holds, analyzer_);
    if (!box) continue;
    ++strict;
    size_t size = 1;
    for (const IntervalSet& set : *box)
      size *= static_cast<size_t>(std::max<int64_t>(0, *Eval(set.max(), {}) - *Eval(set.min(), {}) + 1));
    CHECK(size == accessed.size());
    CHECK(std::ranges::all_of(accessed, [&](const auto& point) { return contains(*box, point); }));
  }
  CHECK(strict > 100);
}

}  // namespace
}  // namespace iropt::arith::test
