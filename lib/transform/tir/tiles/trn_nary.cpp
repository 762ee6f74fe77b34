// The instructions of elementwise operations.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "transform/tir/tiles/trn_builder.h"

namespace iropt {

namespace {

// The sources of an operation, and which of them is broadcast.
class NaryMatcher {
 public:
  NaryMatcher(size_t result, std::vector<TrnSource>& sources, TrnIndexer& indexer, const TrnContext& context)
      : result_(result), sources_(sources), indexer_(indexer), analyzer_(context.analyzer), build_(context) {}

  // Makes the first source a region of the shape of the result; whether it was the second one.
  Result<bool> Order() {
    if (!sources_[0].region && !sources_[1].region) return build_.Fail("one operand must be a region");
    bool swapped = !sources_[0].region;
    if (swapped) std::swap(sources_[0], sources_[1]);
    if (sources_[1].region) {
      IROPT_ASSIGN_OR_RETURN(const bool broadcast, FirstIsBroadcast());
      if (broadcast) std::swap(sources_[0], sources_[1]);
      swapped |= broadcast;
    }
    return swapped;
  }

  Status LinkAll() {
    IROPT_ASSIGN_OR_RETURN(const DimMap dims, indexer_.ElementwiseDims(result_, *sources_[0].region));
    IROPT_RETURN_IF_ERROR(indexer_.Link(result_, *sources_[0].region, dims));
    for (size_t i = 1; i < sources_.size(); ++i) {
      if (sources_[i].region) IROPT_RETURN_IF_ERROR(LinkBroadcast(*sources_[i].region));
    }
    return {};
  }

 private:
  bool Same(const PrimExpr* a, const PrimExpr* b) { return analyzer_.CanProveEqual(a, b); }
  bool IsOne(const PrimExpr* e) { return Same(e, analyzer_.make().Const(1, e->dtype)); }
  const PrimExprs& Extents(size_t region) const { return indexer_.region(region).extents; }

  Error ShapeError() const { return build_.Fail("the shapes of the operands do not match"); }

  // Of two regions, whose last dimensions correspond.
  Result<bool> FirstIsBroadcast() {
    const PrimExprs& a = Extents(*sources_[0].region);
    const PrimExprs& b = Extents(*sources_[1].region);
    const size_t shared = std::min(a.size(), b.size());
    bool equal = true, a_fits = true, b_fits = true;
    for (size_t i = 1; i <= shared; ++i) {
      const PrimExpr* x = a[a.size() - i];
      const PrimExpr* y = b[b.size() - i];
      if (Same(x, y)) continue;
      equal = false;
      a_fits = a_fits && IsOne(x);
      b_fits = b_fits && IsOne(y);
    }
    const auto has_units_before = [&](const PrimExprs& extents) {
      return std::all_of(extents.begin(), extents.end() - static_cast<std::ptrdiff_t>(shared),
                         [&](const PrimExpr* e) { return IsOne(e); });
    };
    if (equal) return a.size() < b.size() && !has_units_before(b);
    if (a_fits && has_units_before(a)) return true;
    if (b_fits && has_units_before(b)) return false;
    return ShapeError();
  }

  Status LinkBroadcast(size_t source) {
    const size_t first = *sources_[0].region;
    const PrimExprs& all = Extents(first);
    const PrimExprs& own = Extents(source);
    DimMap dims;
    for (size_t i = 1; i <= std::min(all.size(), own.size()); ++i) {
      const PrimExpr* x = all[all.size() - i];
      const PrimExpr* y = own[own.size() - i];
      if (!analyzer_.CanProveNotEqual(x, y)) {
        dims[all.size() - i] = own.size() - i;
      } else if (!IsOne(y)) {
        return ShapeError();
      }
    }
    for (size_t i = 0; i + all.size() < own.size(); ++i) {
      if (!IsOne(own[i])) return ShapeError();
    }
    IROPT_RETURN_IF_ERROR(indexer_.Link(first, source, dims));
    if (!indexer_.SamePartitions(first, source)) return build_.Fail("the partitions of the operands do not match");
    return {};
  }

  const size_t result_;
  std::vector<TrnSource>& sources_;
  TrnIndexer& indexer_;
  arith::Analyzer& analyzer_;
  const TrnBuilder build_;
};

// Returns whether an instruction with a scalar per partition, `fixed`, is better than one with a tensor, `varying`.
bool PrefersScalar(const TrnInstruction& fixed, const TrnInstruction& varying) {
  if (fixed.stride == 1 && varying.stride > 1 && fixed.size > 1) return true;
  if (fixed.stride > 1 && varying.stride == 1 && varying.size > 1) return false;
  return fixed.size > varying.size;
}

}  // namespace

Result<NaryInstruction> FindNaryInstruction(size_t result, std::vector<TrnSource>& sources, TrnIndexer& indexer,
                                            const TrnContext& context, const std::optional<Dims>& dims,
                                            bool first_may_be_tensor) {
  const TrnBuilder build(context);
  IROPT_RETURN_IF_ERROR(CheckTrnMemory(*indexer.region(result).buffer, /*psum=*/false, build));
  for (const TrnSource& source : sources) {
    if (source.region) IROPT_RETURN_IF_ERROR(CheckTrnMemory(*indexer.region(*source.region).buffer, true, build));
  }
  NaryMatcher matcher(result, sources, indexer, context);
  NaryInstruction found;
  IROPT_ASSIGN_OR_RETURN(found.swapped, matcher.Order());
  IROPT_RETURN_IF_ERROR(matcher.LinkAll());
  IROPT_ASSIGN_OR_RETURN(found.instruction, indexer.Longest(result, dims));
  // The instruction is one of the result, whose factors those of the sources follow.
  for (size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].region) {
      found.is_scalar.push_back(true);
      continue;
    }
    IROPT_ASSIGN_OR_RETURN(TrnInstruction varying, indexer.Fit(found.instruction, result, *sources[i].region));
    if (i == 0) {
      found.instruction = std::move(varying);
      continue;
    }
    IROPT_ASSIGN_OR_RETURN(TrnInstruction fixed,
                           indexer.Fit(found.instruction, result, *sources[i].region, std::nullopt, true));
    const bool scalar = !first_may_be_tensor || PrefersScalar(fixed, varying);
    found.is_scalar.push_back(scalar);
    found.instruction = scalar ? std::move(fixed) : std::move(varying);
  }
  return found;
}

Result<TrnInstruction> FindUnaryInstruction(size_t result, size_t source, TrnIndexer& indexer,
                                            const TrnContext& context, const std::optional<Dims>& dims) {
  const TrnBuilder build(context);
  IROPT_RETURN_IF_ERROR(CheckTrnMemory(*indexer.region(result).buffer, /*psum=*/false, build));
  IROPT_RETURN_IF_ERROR(CheckTrnMemory(*indexer.region(source).buffer, /*psum=*/true, build));
  IROPT_ASSIGN_OR_RETURN(const DimMap map, indexer.ElementwiseDims(source, result));
  IROPT_RETURN_IF_ERROR(indexer.Link(source, result, map));
  IROPT_ASSIGN_OR_RETURN(const TrnInstruction longest, indexer.Longest(result, dims));
  return indexer.Fit(longest, result, source);
}

}  // namespace iropt
