// Legalization of operators that rearrange elements.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/axes.h"
#include "iropt/op/ops/concat.h"
#include "iropt/op/ops/reorder.h"
#include "iropt/op/ops/repeat.h"

namespace iropt::legalize {

namespace {

using ReshapeFn = te::Tensor (*)(const te::Tensor&, te::Values);

const Expr* LegalizeReshape(LegalizeCall& call, std::string_view name, std::span<const PrimExpr* const> dims,
                            ReshapeFn f) {
  TeCall te(call, name);
  const te::Tensor x = te.Arg(0);
  return te.Finish({f(x, te.Dims(dims))});
}

const Expr* LegalizeToShape(LegalizeCall& call, std::string_view name, ReshapeFn f) {
  const ShapeExpr* shape = call.ShapeArg(1);
  return shape ? LegalizeReshape(call, name, shape->values.span(), f)
               : call.Unchanged("its shape is not an expression");
}

topi::Axes AxesOf(const std::optional<IntList>& axes) { return axes ? topi::Axes(axes->vector()) : std::nullopt; }

}  // namespace

const Expr* LegalizeBroadcastTo(LegalizeCall& call) { return LegalizeToShape(call, "broadcast_to", topi::BroadcastTo); }
const Expr* LegalizeCollapseSumTo(LegalizeCall& call) {
  return LegalizeToShape(call, "collapse_sum", topi::CollapseSum);
}
const Expr* LegalizeReshape(LegalizeCall& call) { return LegalizeToShape(call, "reshape", topi::Reshape); }
const Expr* LegalizeCollapseSumLike(LegalizeCall& call) {
  return LegalizeReshape(call, "collapse_sum", call.TensorArg(1)->dims.span(), topi::CollapseSum);
}
const Expr* LegalizeFlatten(LegalizeCall& call) {
  return LegalizeReshape(call, "reshape", call.result()->dims.span(), topi::Reshape);
}

const Expr* LegalizeNnBatchFlatten(LegalizeCall& call) {
  return LegalizeReshape(call, "reshape", call.result()->dims.span(), topi::Reshape);
}

const Expr* LegalizeSize(LegalizeCall& call) {
  TeCall te(call, "size");
  const te::Value size = topi::Product(te.Dims(call.TensorArg(0)->dims.span()), te.Int(1));
  return te.Finish({te.Compute(
      "size", {}, [&](te::Values) { return size; }, te::PythonAxes())});
}

const Expr* LegalizeConcat(LegalizeCall& call) {
  const std::vector<const Expr*> fields = call.TupleFields(0);
  TeCall te(call, "concatenate");
  return te.Finish({topi::Concatenate(te.Inputs(fields), ConcatAttrs(call.call()).axis().value_or(0))});
}

const Expr* LegalizeExpandDims(LegalizeCall& call) {
  TeCall te(call, "expand_dims");
  const te::Tensor x = te.Arg(0);
  const std::vector<int64_t> axes = ExpandDimsAttrs(call.call()).axis().vector();
  const size_t ndim = x.ndim() + axes.size();
  const std::vector<size_t> added = topi::RealAxes(ndim, axes);
  te::Shape shape;
  std::vector<size_t> kept;
  for (size_t i = 0; i < ndim; ++i) {
    const bool is_new = std::find(added.begin(), added.end(), i) != added.end();
    shape.push_back(is_new ? te::Value(1) : x.dim(kept.size()));
    if (!is_new) kept.push_back(i);
  }
  const auto value = [&](te::Values i) {
    std::vector<te::Value> own;
    for (const size_t axis : kept) own.push_back(i[axis]);
    return x(te::Values(own));
  };
  return te.Finish({te.Compute("expand_dims", shape, value, te::PythonAxes())});
}

const Expr* LegalizeFlip(LegalizeCall& call) {
  TeCall te(call, "flip");
  return te.Finish({topi::Flip(te.Arg(0), FlipAttrs(call.call()).axis())});
}

const Expr* LegalizePermuteDims(LegalizeCall& call) {
  TeCall te(call, "transpose");
  const auto axes = PermuteDimsAttrs(call.call()).axes();
  return te.Finish({topi::Transpose(te.Arg(0), axes ? axes->vector() : std::vector<int64_t>())});
}

const Expr* LegalizeRepeat(LegalizeCall& call) {
  const RepeatAttrs attrs(call.call());
  TeCall te(call, "repeat");
  te::Tensor x = te.Arg(0);
  if (!attrs.axis()) {
    const te::Shape dims = x.shape();
    const te::Value size = dims.empty() ? te::Value(1) : topi::Product(te::Values(dims).subspan(1), dims[0]);
    x = topi::Reshape(x, te::Values(&size, 1));
  }
  return te.Finish({topi::Repeat(x, attrs.repeats(), attrs.axis().value_or(0))});
}

namespace {

// A tuple, also of one piece, where TVM 0.18 gives the piece itself.
const Expr* FinishPieces(LegalizeCall& call, TeCall& te, const std::vector<te::Tensor>& pieces) {
  const Expr* result = te.Finish(pieces);
  if (pieces.size() != 1) return result;
  Workspace& workspace = call.builder().workspace();
  const Expr* piece = call.builder().Emit(result);
  const Type* const types[] = {piece->type};
  return workspace.New<Tuple>(workspace.arena().Copy<const Expr*>({piece}), TupleType::Get(types));
}

}  // namespace

const Expr* LegalizeSplit(LegalizeCall& call) {
  const SplitAttrs attrs(call.call());
  const auto parts = attrs.indices_or_sections();
  TeCall te(call, "split");
  const te::Tensor x = te.Arg(0);
  if (parts.is_list) {
    // Indices beyond the end are clamped.
    const te::Value length = x.dim(topi::RealAxis(x.ndim(), attrs.axis()));
    std::vector<te::Value> indices;
    for (const int64_t index : parts) {
      indices.push_back(te.Simplify(te::Min(std::max<int64_t>(index, 0), length)));
    }
    return FinishPieces(call, te, topi::Split(x, indices, attrs.axis()));
  }
  const te::Value size = x.dim(topi::RealAxis(x.ndim(), attrs.axis()));
  if (!te.Simplify(te::FloorMod(size, parts[0])).Is(0))
    return call.Unchanged("the axis is not divisible by the number of sections");
  return FinishPieces(call, te, topi::SplitSections(x, parts[0], attrs.axis()));
}

const Expr* LegalizeSqueeze(LegalizeCall& call) {
  TeCall te(call, "squeeze");
  return te.Finish({topi::Squeeze(te.Arg(0), AxesOf(SqueezeAttrs(call.call()).axis()))});
}

const Expr* LegalizeTile(LegalizeCall& call) {
  TeCall te(call, "tile");
  return te.Finish({topi::Tile(te.Arg(0), TileAttrs(call.call()).repeats().vector())});
}

}  // namespace iropt::legalize
