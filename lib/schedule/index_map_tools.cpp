#include "index_map_tools.h"

#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/int_set.h"
#include "iropt/arith/iter_map.h"
#include "iropt/ir/tir/visitor.h"
#include "iropt/support/check.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"
#include "stmt_tools.h"

namespace iropt::schedule {

namespace {

const PrimExpr* Rebuild(const PrimExpr* expr, const tir::VarValues& values, const arith::PrimBuilder& make) {
  return WithStack([&]() -> const PrimExpr* {
    if (const auto* var = As<tir::Var>(expr)) {
      return values.Lookup(var, expr);
    }
    if (const auto* binary = As<tir::BinaryExpr>(expr))
      return make.Binary(binary->kind, Rebuild(binary->a, values, make), Rebuild(binary->b, values, make));
    if (const auto* negation = As<tir::Not>(expr)) return make.Not(Rebuild(negation->a, values, make));
    if (const auto* cast = As<tir::Cast>(expr)) return make.Cast(cast->dtype, Rebuild(cast->value, values, make));
    if (const auto* select = As<tir::Select>(expr))
      return make.Select(Rebuild(select->condition, values, make), Rebuild(select->true_value, values, make),
                         Rebuild(select->false_value, values, make));
    return expr;
  });
}

// Binding strengths of Python's operators.
enum Strength { kOr = 1, kAnd, kCompare, kSum, kProduct, kAtom };

struct Operator {
  NodeKind kind;
  std::string_view text;
  int strength;
};
constexpr Operator kOperators[] = {{NodeKind::kAdd, "+", kSum},          {NodeKind::kSub, "-", kSum},
                                   {NodeKind::kMul, "*", kProduct},      {NodeKind::kFloorDiv, "//", kProduct},
                                   {NodeKind::kFloorMod, "%", kProduct}, {NodeKind::kDiv, "/", kProduct},
                                   {NodeKind::kEQ, "==", kCompare},      {NodeKind::kNE, "!=", kCompare},
                                   {NodeKind::kLT, "<", kCompare},       {NodeKind::kLE, "<=", kCompare},
                                   {NodeKind::kGT, ">", kCompare},       {NodeKind::kGE, ">=", kCompare},
                                   {NodeKind::kAnd, "and", kAnd},        {NodeKind::kOr, "or", kOr}};

class PythonPrinter {
 public:
  explicit PythonPrinter(const IndexMapAttr& map) {
    for (size_t i = 0; i < map.params.size(); ++i) names_[map.params[i]] = map.param_names[i];
  }

  std::string Print(const PrimExpr* expr, int strength) const {
    if (const auto* var = As<tir::Var>(expr)) {
      const auto* found = names_.Find(var);
      return std::string(found ? *found : var->name);
    }
    if (const int64_t* value = arith::AsInt(expr)) return fmt::format("{}", *value);
    if (const auto* real = As<tir::FloatImm>(expr)) return fmt::format("{:#}", real->value);
    if (const auto* cast = As<tir::Cast>(expr)) return Print(cast->value, strength);
    const auto* binary = As<tir::BinaryExpr>(expr);
    if (!binary) return "None";
    if (binary->kind == NodeKind::kMin || binary->kind == NodeKind::kMax)
      return fmt::format("{}({}, {})", binary->kind == NodeKind::kMin ? "min" : "max", Print(binary->a, 0),
                         Print(binary->b, 0));
    const auto* op = std::ranges::find(kOperators, binary->kind, &Operator::kind);
    if (op == std::end(kOperators)) return "None";
    std::string text =
        fmt::format("{} {} {}", Print(binary->a, op->strength), op->text, Print(binary->b, op->strength + 1));
    return op->strength < strength ? fmt::format("({})", text) : text;
  }

 private:
  LookupMap<const PrimExpr*, std::string_view> names_;
};

}  // namespace

std::vector<const tir::Var*> FreeVarsOf(const IndexMapAttr& map) {
  std::vector<const tir::Var*> found;
  for (const PrimExpr* result : map.results) {
    for (const tir::Var* var : VarsOf(result)) {
      if (std::ranges::find(map.params, var) == map.params.end() && std::ranges::find(found, var) == found.end())
        found.push_back(var);
    }
  }
  return found;
}

const IndexMapAttr* WithFreeVars(const IndexMapAttr& map, const tir::VarValues& values, Workspace& workspace) {
  const arith::PrimBuilder make(workspace);
  std::vector<const PrimExpr*> results;
  for (const PrimExpr* result : map.results) results.push_back(Rebuild(result, values, make));
  auto* copy = workspace.New<IndexMapAttr>(map);
  copy->results = workspace.Copy(results);
  return copy;
}

std::vector<const PrimExpr*> ApplyMap(const IndexMapAttr& map, std::span<const PrimExpr* const> indices,
                                      const arith::PrimBuilder& make) {
  IROPT_CHECK(map.params.size() == indices.size(), "an index map of another number of indices");
  tir::VarValues values;
  for (size_t i = 0; i < indices.size(); ++i) values[map.params[i]] = indices[i];
  std::vector<const PrimExpr*> results;
  for (const PrimExpr* result : map.results) results.push_back(Rebuild(result, values, make));
  return results;
}

std::vector<const PrimExpr*> MapIndices(const IndexMapAttr& map, std::span<const PrimExpr* const> indices,
                                        arith::Analyzer& analyzer) {
  std::vector<const PrimExpr*> results = ApplyMap(map, indices, analyzer.make());
  for (const PrimExpr*& result : results) result = analyzer.Simplify(result);
  return results;
}

std::vector<tir::Range> MapRanges(const IndexMapAttr& map, std::span<const tir::Range> ranges,
                                  arith::Analyzer& analyzer, Workspace& workspace) {
  const arith::PrimBuilder& make = analyzer.make();
  int bits = ranges.empty() ? 32 : 0;
  arith::IterRanges iters;
  arith::VarDomains domains;
  std::vector<const PrimExpr*> vars;
  for (size_t i = 0; i < ranges.size(); ++i) {
    bits = std::max<int>(bits, ranges[i].extent->dtype.bits);
    const tir::Var* var = workspace.NewPrimVar(map.param_names[i], ranges[i].extent->dtype);
    iters.insert_or_assign(var, ranges[i]);
    domains.insert_or_assign(var, arith::IntervalSet::FromRange(ranges[i], make));
    vars.push_back(var);
  }
  const std::vector<const PrimExpr*> results = ApplyMap(map, vars, make);
  const auto found = arith::DetectIterMap(
      results, iters, nullptr, {.level = arith::IterMapLevel::kNoCheck, .simplify_trivial_iterators = false}, analyzer);
  const DataType dtype = DataType::Int(bits);
  std::vector<tir::Range> mapped;
  for (size_t i = 0; i < results.size(); ++i) {
    const PrimExpr* min = nullptr;
    const PrimExpr* extent = nullptr;
    if (found) {
      min = found->indices[i].base;
      extent = analyzer.Simplify(make.Mul(found->indices[i].extent, found->indices[i].scale));
    } else {
      // More general, but padding that was intended may be lost.
      const arith::IntervalSet set = arith::EvalSet(results[i], domains, analyzer);
      min = analyzer.Simplify(set.min() ? set.min() : results[i]);
      const PrimExpr* max = set.max() ? set.max() : results[i];
      extent = analyzer.Simplify(make.Add(make.Sub(max, min), make.Const(1, max->dtype)));
    }
    mapped.emplace_back(make.Cast(dtype, min), make.Cast(dtype, extent));
  }
  return mapped;
}

std::optional<std::vector<const PrimExpr*>> MapShape(const IndexMapAttr& map, std::span<const PrimExpr* const> shape,
                                                     arith::Analyzer& analyzer, Workspace& workspace) {
  std::vector<tir::Range> ranges;
  for (const PrimExpr* dim : shape) ranges.emplace_back(analyzer.make().Const(0, dim->dtype), dim);
  std::vector<const PrimExpr*> result;
  for (const tir::Range& range : MapRanges(map, ranges, analyzer, workspace)) {
    if (!arith::IsInt(range.min, 0)) return std::nullopt;
    result.push_back(range.extent);
  }
  return result;
}

std::string ToPython(const IndexMapAttr& map) {
  const PythonPrinter printer(map);
  std::vector<std::string> results;
  for (const PrimExpr* result : map.results) results.push_back(printer.Print(result, 0));
  return fmt::format("lambda {}: ({}{})", fmt::join(map.param_names.begin(), map.param_names.end(), ", "),
                     fmt::join(results, ", "), results.size() == 1 ? "," : "");
}

}  // namespace iropt::schedule
