#include "iter_maps.h"

#include <optional>
#include <vector>

#include "iropt/arith/analyzer.h"
#include "iropt/arith/index_map.h"
#include "iropt/arith/iter_map.h"
#include "iropt/arith/prim_builder.h"
#include "node.h"
#include "values.h"

namespace iropt::python {

namespace {

using Exprs = std::vector<const PrimExpr*>;

// The arguments of a function about maps of iterators, and the analyzer that it uses.
class IterMaps {
 public:
  IterMaps() : make_(build_.workspace()), analyzer_(make_, arith::Analyzer::SymVars::kAny) {}
  IterMaps(const py::list& indices, const py::list& iters, const py::object& condition) : IterMaps() {
    for (py::handle index : indices) indices_.push_back(RequiredPrim(index, build_));
    for (py::handle item : iters) {
      const auto parts = py::reinterpret_borrow<py::tuple>(item);
      vars_.push_back(To<tir::Var>(ToNode(parts[0], build_)));
      iters_.insert_or_assign(vars_.back(), *To<tir::Range>(ToNode(parts[1], build_)));
    }
    condition_ = condition.is_none() ? nullptr : RequiredPrim(condition, build_);
  }

  Build& build() { return build_; }
  py::object Made(const PrimExpr* expr) { return expr == nullptr ? py::object(py::none()) : ToPython(build_.Made(expr)); }

  // (indices as (normal form, extent, scale, base), predicate of padding), or None.
  py::object Detect(int level, bool simplify_trivial) {
    const arith::IterMapOptions options{static_cast<arith::IterMapLevel>(level), simplify_trivial};
    const auto found = arith::DetectIterMap(indices_, iters_, condition_, options, analyzer_);
    if (!found) return py::none();
    py::list indices;
    for (const arith::IterMapIndex& index : found->indices)
      indices.append(py::make_tuple(Made(index.expr), Made(index.extent), Made(index.scale), Made(index.base)));
    return py::make_tuple(indices, Made(found->padding_predicate));
  }
  py::list Simplify(bool simplify_trivial) {
    py::list simple;
    for (const PrimExpr* index :
         arith::SimplifyIterMaps(indices_, iters_, condition_, simplify_trivial, analyzer_))
      simple.append(Made(index));
    return simple;
  }
  // (digits as (variable, lower factor, extent, scale), base) of the only index.
  py::tuple Normalize() {
    const arith::IndexDigits found = arith::NormalizeIndex(indices_.at(0), iters_, analyzer_);
    py::list digits;
    for (const auto& digit : found.digits)
      digits.append(py::make_tuple(Made(digit.var), Made(digit.lower_factor), Made(digit.extent), Made(digit.scale)));
    return py::make_tuple(digits, Made(found.base));
  }
  // The values of the iterators by those of the indices as (variable, value), or None.
  py::object Inverse(const py::list& outputs) {
    Exprs values;
    for (py::handle output : outputs) values.push_back(RequiredPrim(output, build_));
    const auto found = arith::InverseIterMap(indices_, values, iters_, analyzer_);
    return found ? py::object(Pairs(*found)) : py::none();
  }
  // The same, and the condition on the iterators under which outputs stand for none; iterators may be padded.
  py::object PaddedInverse(const py::list& outputs) {
    Exprs values;
    for (py::handle output : outputs) values.push_back(RequiredPrim(output, build_));
    const arith::IterMapOptions options{arith::IterMapLevel::kNoCheck, false};
    const auto found = arith::InverseIterMap(indices_, values, iters_, options, analyzer_);
    if (!found) return py::none();
    return py::make_tuple(Pairs(found->values), Made(found->padding_predicate));
  }
  // (least, greatest) of the part that is accessed of each dimension of the region, or None.
  py::object Region(const py::list& region, bool is_strict) {
    std::vector<const tir::Range*> ranges;
    for (py::handle item : region) {
      const auto parts = py::reinterpret_borrow<py::tuple>(item);
      ranges.push_back(
          build_.workspace().New<tir::Range>(RequiredPrim(parts[0], build_), RequiredPrim(parts[1], build_)));
    }
    std::optional<std::vector<arith::IntervalSet>> found;
    if (is_strict) {
      found = arith::EstimateRegionStrictBound(ranges, iters_, condition_, analyzer_);
    } else {
      found = arith::EstimateRegionUpperBound(ranges, iters_, condition_, analyzer_);
    }
    if (!found) return py::none();
    py::list sets;
    for (const arith::IntervalSet& set : *found) sets.append(py::make_tuple(Made(set.min()), Made(set.max())));
    return sets;
  }
  // (outer expression, outer extent, inner expression, inner extent) of each index and the two conditions, or None.
  py::object Divide(const py::list& inner, bool simplify_trivial) {
    std::vector<const tir::Var*> vars;
    for (py::handle var : inner) vars.push_back(To<tir::Var>(ToNode(var, build_)));
    const auto found = arith::DivideSubspace(indices_, iters_, vars, condition_, simplify_trivial, analyzer_);
    if (!found) return py::none();
    py::list indices;
    for (const auto& index : found->indices)
      indices.append(py::make_tuple(Made(index.outer.expr), Made(index.outer.extent), Made(index.inner.expr),
                                    Made(index.inner.extent)));
    return py::make_tuple(indices, Made(found->outer_condition), Made(found->inner_condition));
  }

 private:
  py::list Pairs(const tir::VarValues& values) {
    py::list pairs;
    for (const tir::Var* var : vars_) {
      const auto* value = values.Find(var);
      if (value != nullptr) pairs.append(py::make_tuple(Made(var), Made(analyzer_.Simplify(*value))));
    }
    return pairs;
  }

  Build build_;
  arith::PrimBuilder make_;
  arith::Analyzer analyzer_;
  Exprs indices_;
  arith::IterRanges iters_;
  std::vector<const tir::Var*> vars_;
  const PrimExpr* condition_ = nullptr;
};

// The inverse map, or None.
py::object InverseIndexMap(const NodeRef& map, const py::list& dims) {
  Build build;
  build.Use(map.keep);
  Exprs shape;
  for (py::handle dim : dims) shape.push_back(RequiredPrim(dim, build));
  const IndexMapAttr* found = arith::InvertIndexMap(*To<IndexMapAttr>(map.node), build.workspace().Copy(shape));
  return found ? ToPython(build.Made(found)) : py::none();
}

}  // namespace

void AddIterMaps(py::module_& m) {
  m.def("detect_iter_map", [](const py::list& indices, const py::list& iters, const py::object& condition, int level,
                              bool trivial) { return IterMaps(indices, iters, condition).Detect(level, trivial); });
  m.def("simplify_iter_maps",
        [](const py::list& indices, const py::list& iters, const py::object& condition, bool trivial) {
          return IterMaps(indices, iters, condition).Simplify(trivial);
        });
  m.def("normalize_index", [](const py::object& index, const py::list& iters) {
    py::list indices;
    indices.append(index);
    return IterMaps(indices, iters, py::none()).Normalize();
  });
  m.def("inverse_iter_map", [](const py::list& indices, const py::list& iters, const py::list& outputs) {
    return IterMaps(indices, iters, py::none()).Inverse(outputs);
  });
  m.def("padded_inverse_iter_map", [](const py::list& indices, const py::list& iters, const py::list& outputs) {
    return IterMaps(indices, iters, py::none()).PaddedInverse(outputs);
  });
  m.def("divide_subspace",
        [](const py::list& indices, const py::list& iters, const py::list& inner, const py::object& condition,
           bool trivial) { return IterMaps(indices, iters, condition).Divide(inner, trivial); });
  m.def("estimate_region",
        [](const py::list& region, const py::list& iters, const py::object& condition, bool is_strict) {
          return IterMaps(py::list(), iters, condition).Region(region, is_strict);
        });
  m.def("inverse_index_map", &InverseIndexMap);
  // The inverse that a map states, or None.
  m.def("stated_inverse", [](const NodeRef& map) { return ToPython(To<IndexMapAttr>(map.node)->inverse, map.keep); });
}

}  // namespace iropt::python
