// Legalization of operators that write to computed positions: opaque blocks with loops of their own.
#include <optional>
#include <string_view>
#include <vector>

#include "box_code.h"
#include "iropt/legalize/legalize.h"
#include "iropt/legalize/topi.h"
#include "iropt/op/ops/gather.h"
#include "iropt/op/ops/index.h"
#include "iropt/op/ops/slice.h"
#include "local_number.h"

namespace iropt::legalize {

namespace {

using te::Tensor;
using te::Value;
using Placement = te::Builder::Placement;

// The statements of an opaque block. Tensors are read and written at flat positions.
class FlatCode {
 public:
  FlatCode(te::Builder& te, tir::StmtBuilder& code) : te_(te), code_(code) {}

  Value Load(const Tensor& x, Value index) const { return x(te::Values(AtPosition(x, index))); }
  void Store(const Tensor& x, Value index, Value value) {
    std::vector<const PrimExpr*> indices;
    for (const Value& i : AtPosition(x, index)) indices.push_back(te_.NodeOf(i));
    code_.Store(x.buffer(), indices, te_.NodeOf(value, x.dtype()));
  }
  // Since TVM 0.24 such loops have no names of their own.
  void For(std::string_view name, Value extent, tir::ForKind kind, FunctionRef<void(Value)> body) {
    const std::string_view used = te_.version() >= TextVersion::kV0_24 ? "v" : name;
    const tir::LoopFrame loop = code_.For(used, te_.NodeOf(extent), kind);
    body(Value(loop.vars[0], te_));
  }
  void CopyAll(const Tensor& from, const Tensor& to, tir::ForKind kind) {
    For("i", topi::Product(from.shape(), 1), kind, [&](Value i) { Store(to, i, Load(from, i)); });
  }

 private:
  te::Builder& te_;
  tir::StmtBuilder& code_;
};

Value Combine(std::string_view reduction, Value old, Value update) {
  if (reduction == "add") return old + update;
  if (reduction == "mul") return old * update;
  if (reduction == "mean") return te::Div(old + update, 2);
  if (reduction == "min") return te::Min(old, update);
  if (reduction == "max") return te::Max(old, update);
  return update;
}

// The product of the dimensions in [from, to).
Value Size(const Tensor& x, size_t from, size_t to) {
  const te::Shape shape = x.shape();
  return topi::Product(te::Values(shape).subspan(from, to - from), 1);
}

const Expr* FinishExtern(TeCall& te, std::string_view name, std::span<const Tensor> inputs, const Tensor& like,
                         FunctionRef<void(FlatCode&, const Tensor&)> body) {
  const te::Builder::ExternOutput out[] = {{"out_buf", like.shape(), like.dtype()}};
  return te.Finish(te.Extern(name, inputs, out, [&](tir::StmtBuilder& statements, std::span<const Tensor> outputs) {
    FlatCode code(te, statements);
    const size_t depth = statements.depth();
    // Since TVM 0.24 the statements are marked as a sequence.
    if (te.version() >= TextVersion::kV0_24) {
      const PrimExpr* node = te.make().Int(0, DataType::Int(32));
      statements.Open<tir::AttrStmt>(Span(), node, attr::kPragmaScope, te.workspace().New<tir::StringImm>("seq"),
                                     nullptr);
    }
    body(code, outputs[0]);
    statements.CloseTo(depth);
  }));
}

constexpr auto kParallel = tir::ForKind::kParallel;
constexpr auto kSerial = tir::ForKind::kSerial;

}  // namespace

const Expr* LegalizeScatterElements(LegalizeCall& call) {
  const ScatterElementsAttrs attrs(call.call());
  TeCall te(call, "scatter_elements");
  const Tensor data = te.Arg(0, Placement::kAnywhere);
  const Tensor indices = te.Arg(1, Placement::kAnywhere);
  const Tensor updates = te.Arg(2, Placement::kAnywhere);
  const size_t axis = topi::RealAxis(data.ndim(), attrs.axis());
  const Value after = Size(data, axis + 1, data.ndim());
  const Value own_after = Size(indices, axis + 1, indices.ndim());
  const Tensor inputs[] = {data, indices, updates};
  return FinishExtern(te, "scatter_elements_generic", inputs, data, [&](FlatCode& code, const Tensor& out) {
    code.CopyAll(data, out, kParallel);
    code.For("fused", Size(indices, 0, axis) * own_after, kParallel, [&](Value fused) {
      const Value i = te::FloorDiv(fused, own_after);
      const Value j = te::FloorMod(fused, own_after);
      const Value source = i * (indices.dim(axis) * own_after) + j;
      const Value target = i * (data.dim(axis) * after) + j;
      code.For("k", indices.dim(axis), kSerial, [&](Value k) {
        const Value from = source + k * own_after;
        const Value index = code.Load(indices, from);
        const auto wide = [](Value x) { return te::Cast(DataType::Int(64), x); };
        const Value shifted = wide(index) + wide(index < 0) * data.dim(axis);
        const Value to = target + shifted * after;
        const Value update = code.Load(updates, from);
        code.Store(out, to,
                   attrs.reduction() == "update" ? update : Combine(attrs.reduction(), code.Load(out, to), update));
      });
    });
  });
}

const Expr* LegalizeScatterNd(LegalizeCall& call) {
  const ScatterNDAttrs attrs(call.call());
  if (!arith::AsInt(call.TensorArg(1)->dims.back())) return call.Unchanged("the number of axes is symbolic");
  TeCall te(call, "scatter_nd");
  const Tensor data = te.Arg(0, Placement::kAnywhere);
  const Tensor given = te.Arg(1);
  const Tensor updates = te.Arg(2, Placement::kAnywhere);
  std::vector<int64_t> order = {static_cast<int64_t>(given.ndim()) - 1};
  for (size_t i = 0; i + 1 < given.ndim(); ++i) order.push_back(static_cast<int64_t>(i));
  const Tensor indices = topi::Transpose(given, order);
  const Value positions = Size(indices, 1, indices.ndim());
  const Value elements = Size(updates, given.ndim() - 1, updates.ndim());
  const Tensor inputs[] = {data, indices, updates};
  return FinishExtern(te, "scatter_nd_generic", inputs, data, [&](FlatCode& code, const Tensor& out) {
    code.CopyAll(data, out, kSerial);
    code.For("j", positions, kSerial, [&](Value i) {
      code.For("k", elements, kParallel, [&](Value j) {
        Value offset = elements;
        Value to = j;
        for (auto axis = static_cast<size_t>(*indices.dim(0).AsInt()); axis-- > 0;) {
          to = to + offset * code.Load(indices, i + Value(axis) * positions);
          offset = offset * data.dim(axis);
        }
        const Value update = code.Load(updates, i * elements + j);
        code.Store(out, to,
                   attrs.reduction() == "update" ? update : Combine(attrs.reduction(), code.Load(out, to), update));
      });
    });
  });
}

namespace {

// The flat position in an index tensor that is broadcast to the shape at these positions.
Value BroadcastPosition(const Tensor& index, te::Values at) {
  Value offset = 0;
  Value stride = 1;
  const size_t added = at.size() - index.ndim();
  for (size_t d = index.ndim(); d-- > 0;) {
    offset = offset + (index.dim(d).Is(1) ? Value(0) : at[added + d]) * stride;
    stride = stride * index.dim(d);
  }
  return offset;
}

}  // namespace

const Expr* LegalizeIndexPut(LegalizeCall& call) {
  const bool accumulate = IndexPutAttrs(call.call()).accumulate();
  const bool single = As<TensorType>(call.arg(1)->type) != nullptr;
  const std::vector<const Expr*> fields = single ? std::vector{call.arg(1)} : call.TupleFields(1);
  TeCall te(call, "index_put");
  std::vector<Tensor> inputs = {te.Arg(0, Placement::kAnywhere)};
  te::Shape shape;
  for (const Expr* field : fields) {
    inputs.push_back(te.Input(field, Placement::kAnywhere));
    shape = topi::Broadcast(te, shape, inputs.back().shape()).shape;
  }
  inputs.push_back(te.Arg(2, Placement::kAnywhere));
  const Tensor& data = inputs.front();
  const Tensor& values = inputs.back();
  return FinishExtern(te, "index_put_generic", inputs, data, [&](FlatCode& code, const Tensor& out) {
    code.CopyAll(data, out, kParallel);
    // TVM runs the updates in parallel, although several may go to one element.
    code.For("k", topi::Product(shape, 1), tir::ForKind::kSerial, [&](Value k) {
      const std::vector<Value> at = topi::UnravelIndex(k, shape);
      Value to = 0;
      Value stride = 1;
      for (size_t axis = data.ndim(); axis-- > 0;) {
        const Value index = code.Load(inputs[axis + 1], BroadcastPosition(inputs[axis + 1], at));
        const auto wide = [](Value x) { return te::Cast(DataType::Int(64), x); };
        to = to + (wide(index) + wide(index < 0) * data.dim(axis)) * stride;
        stride = stride * data.dim(axis);
      }
      const Value update = code.Load(values, k);
      code.Store(out, to, accumulate ? code.Load(out, to) + update : update);
    });
  });
}

// The position of each value by a binary search.
const Expr* LegalizeBucketize(LegalizeCall& call) {
  const BucketizeAttrs attrs(call.call());
  const DataType dtype = call.result()->dtype;
  TeCall te(call, "searchsorted");
  const Tensor boundaries = te.Arg(1, Placement::kAnywhere);
  const Tensor x = te.Arg(0, Placement::kAnywhere);
  const Tensor inputs[] = {boundaries, x};
  const te::Builder::ExternOutput out[] = {{"out_buf", x.shape(), dtype}};
  const auto body = [&](tir::StmtBuilder& statements, std::span<const Tensor> outputs) {
    FlatCode code(te, statements);
    code.For("i", topi::Product(x.shape(), 1), kParallel, [&](Value i) {
      const LocalNumber low(te, statements, dtype);
      const LocalNumber high(te, statements, dtype);
      const auto from = [&] { return low.value(); };
      const auto to = [&] { return high.value(); };
      code.Store(low.tensor(), 0, te.Int(0, dtype));
      code.Store(high.tensor(), 0, te::Cast(dtype, boundaries.dim(0)));
      {
        const tir::Frame loop = statements.While(te.NodeOf(from() < to()));
        const Value middle = from() + te::Bitwise(arith::BitOp::kShiftRight, to() - from(), te.Int(1, dtype));
        const Value boundary = code.Load(boundaries, te::Cast(DataType::Int(64), middle));
        const Value value = code.Load(x, i);
        const tir::Frame choice = statements.If(te.NodeOf(attrs.right() ? boundary <= value : boundary < value));
        {
          const tir::Frame then = statements.Then();
          code.Store(low.tensor(), 0, middle + 1);
        }
        const tir::Frame otherwise = statements.Else();
        code.Store(high.tensor(), 0, middle);
      }
      code.Store(outputs[0], i, from());
    });
  };
  return te.Finish(te.Extern("searchsorted", inputs, out, body));
}

const Expr* LegalizeGradTakeBackward(LegalizeCall& call) {
  const std::optional<int64_t> axis_number = TakeAttrs(call.call()).axis();
  if (call.TensorArg(2)->ndim != 1) return call.Unchanged("its indices are not a vector");
  TeCall te(call, "take_backward");
  const Tensor grad = te.Arg(0, Placement::kAnywhere);
  const Tensor x = te.Arg(1, Placement::kAnywhere);
  const Tensor indices = te.Arg(2, Placement::kAnywhere);
  const Value length = indices.dim(0);
  const Tensor inputs[] = {grad, x, indices};
  return FinishExtern(te, "take_backward", inputs, x, [&](FlatCode& code, const Tensor& out) {
    const auto add = [&](Value to, Value from) { code.Store(out, to, code.Load(out, to) + code.Load(grad, from)); };
    code.For("i", topi::Product(x.shape(), 1), kSerial, [&](Value i) { code.Store(out, i, te.Const(0, x.dtype())); });
    if (!axis_number) {
      code.For("serial", length, kSerial, [&](Value l) { add(code.Load(indices, l), l); });
      return;
    }
    const size_t axis = topi::RealAxis(x.ndim(), *axis_number);
    const Value inner = Size(grad, axis + 1, grad.ndim());
    code.For("parallel", Size(grad, 0, axis) * inner, kSerial, [&](Value fused) {
      const Value i = te::FloorDiv(fused, inner);
      const Value j = te::FloorMod(fused, inner);
      code.For("serial", length, kSerial, [&](Value l) {
        add(i * inner * x.dim(axis) + code.Load(indices, l) * inner + j, i * inner * length + l * inner + j);
      });
    });
  });
}

}  // namespace iropt::legalize
