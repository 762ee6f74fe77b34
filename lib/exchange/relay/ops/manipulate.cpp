// Operators that change the shape of tensors, and join and split them.
#include <algorithm>
#include <numeric>

#include "dims.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/infer/ops/axes.h"
#include "iropt/infer/ops/concat.h"
#include "iropt/infer/ops/reorder.h"
#include "iropt/infer/ops/repeat.h"
#include "op_table.h"

namespace iropt::relay {

namespace {

// Relay's codes in a new shape: 0 copies a dimension, -1 is what remains, -2 copies all others, -3 joins two, -4 splits
// one into the next two numbers.
class ShapeCode {
 public:
  ShapeCode(const DimList& from, std::span<const int64_t> code, bool allow_zero)
      : from_(from), code_(code), allow_zero_(allow_zero) {}

  // Nothing if the code does not fit the shape.
  std::optional<DimList> Apply() {
    for (size_t i = 0; i < code_.size(); ++i) {
      if (!Step(i)) return std::nullopt;
    }
    if (unknown_) to_[*unknown_] = Remaining();
    return to_;
  }

 private:
  bool Step(size_t& i) {
    const int64_t code = code_[i];
    if (code > 0 || (code == 0 && allow_zero_)) {
      ++next_;
      to_.push_back(make_.Int(code));
      return true;
    }
    switch (code) {
      case 0: return Take(1);
      case -1:
        if (unknown_) return false;
        unknown_ = to_.size();
        ++next_;
        to_.push_back(make_.Int(1));
        return true;
      case -2:
        while (next_ < from_.size()) to_.push_back(from_[next_++]);
        return true;
      case -3: return Join();
      case -4: return Split(i);
      default: return false;
    }
  }

  bool Take(size_t count) {
    if (next_ + count > from_.size()) return false;
    to_.push_back(from_[next_++]);
    return true;
  }

  bool Join() {
    if (next_ + 2 > from_.size()) return false;
    to_.push_back(make_.Mul(from_[next_], from_[next_ + 1]));
    next_ += 2;
    return true;
  }

  bool Split(size_t& i) {
    if (i + 2 >= code_.size() || next_ >= from_.size()) return false;
    const PrimExpr* whole = from_[next_++];
    const int64_t first = code_[++i];
    const int64_t second = code_[++i];
    if ((first == -1 && second == -1) || first == 0 || second == 0) return false;
    to_.push_back(first == -1 ? make_.FloorDiv(whole, make_.Int(second)) : make_.Int(first));
    to_.push_back(second == -1 ? make_.FloorDiv(whole, make_.Int(first)) : make_.Int(second));
    return true;
  }

  const PrimExpr* Remaining() const {
    const PrimExpr* others = Product(to_);
    const PrimExpr* all = Product(from_);
    if (arith::IsInt(others, 0)) return make_.Int(0);
    return make_.FloorDiv(all, others);
  }

  const arith::PrimBuilder make_;
  const DimList& from_;
  std::span<const int64_t> code_;
  bool allow_zero_;
  DimList to_;
  size_t next_ = 0;
  std::optional<size_t> unknown_;
};

// Returns whether the code is the new shape.
bool IsPlain(std::span<const int64_t> shape) {
  return std::ranges::all_of(shape, [](int64_t dim) { return dim > 0; });
}

const Expr* BuildReshape(OpCall& call) {
  const std::vector<int64_t> code = call.Ints("newshape");
  const auto dims = DimsOf(call.arg(0));
  if (!dims && IsPlain(code)) return call.Reshape(call.arg(0), code);
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  const auto shape = ShapeCode(*dims, code, call.Bool("allowzero")).Apply();
  if (!shape) return call.Error("type-inference", "the new shape does not fit the shape of the operand");
  return call.Reshape(call.arg(0), *shape);
}

// The code is read from the right.
const Expr* BuildReverseReshape(OpCall& call) {
  std::vector<int64_t> code = call.Ints("newshape");
  auto dims = DimsOf(call.arg(0));
  if (!dims) return call.Error("type-inference", "the shape of the operand is unknown");
  std::ranges::reverse(*dims);
  std::ranges::reverse(code);
  for (size_t i = 0; i + 2 < code.size(); ++i) {
    if (code[i + 2] == -4)
      std::rotate(code.begin() + static_cast<ptrdiff_t>(i), code.begin() + static_cast<ptrdiff_t>(i) + 2,
                  code.begin() + static_cast<ptrdiff_t>(i) + 3);
  }
  auto shape = ShapeCode(*dims, code, call.Bool("allowzero")).Apply();
  if (!shape) return call.Error("type-inference", "the new shape does not fit the shape of the operand");
  std::ranges::reverse(*shape);
  return call.Reshape(call.arg(0), *shape);
}

const Expr* BuildReshapeLike(OpCall& call) {
  const auto left = DimsOf(call.arg(0));
  const auto right = DimsOf(call.arg(1));
  if (!left || !right) return call.Error("type-inference", "the shape of an operand is unknown");
  const auto at = [&](std::string_view name, size_t rank, int64_t none) {
    const int64_t i = call.has(name) ? call.Int(name) : none;
    return std::clamp<int64_t>(i < 0 ? i + static_cast<int64_t>(rank) : i, 0, static_cast<int64_t>(rank));
  };
  const int64_t left_end = at("lhs_end", left->size(), static_cast<int64_t>(left->size()));
  const int64_t right_end = at("rhs_end", right->size(), static_cast<int64_t>(right->size()));
  DimList shape(left->begin(), left->begin() + at("lhs_begin", left->size(), 0));
  const int64_t right_begin = at("rhs_begin", right->size(), 0);
  for (int64_t i = right_begin; i < right_end; ++i) shape.push_back((*right)[static_cast<size_t>(i)]);
  shape.insert(shape.end(), left->begin() + left_end, left->end());
  return call.Reshape(call.arg(0), shape);
}

const Expr* BuildTranspose(OpCall& call) {
  const std::vector<int64_t> axes = call.Ints("axes");
  return axes.empty() ? op::PermuteDims(call, call.arg(0)) : call.Permute(call.arg(0), axes);
}

const Expr* BuildExpandDims(OpCall& call) {
  const int rank = RankOf(call.arg(0));
  int64_t axis = call.Int("axis");
  if (axis < 0 && rank != kUnknownDim) axis += rank + 1;
  const int64_t added = std::max<int64_t>(call.Int("num_newaxis"), 0);
  if (!call.MayRepeat({added})) return nullptr;
  std::vector<int64_t> axes(static_cast<size_t>(added));
  std::iota(axes.begin(), axes.end(), axis);
  return axes.empty() ? call.arg(0) : call.ExpandDims(call.arg(0), axes);
}

const Expr* BuildSqueeze(OpCall& call) {
  return op::Squeeze(call, call.arg(0), {.axis = call.has("axis") ? OptInts(call.Ints("axis")) : OptInts()});
}

const Expr* BuildConcatenate(OpCall& call) { return op::Concat(call, call.arg(0), {.axis = call.Int("axis")}); }

const Expr* BuildStack(OpCall& call) { return op::Stack(call, call.arg(0), {.axis = call.Int("axis")}); }

const Expr* BuildSplit(OpCall& call) {
  using Sections = op_attrs::Value<AttrKind::kIntOrIntList>;
  const bool is_list = call.attr("indices_or_sections").is_list();
  const Sections parts =
      is_list ? Sections(call.Ints("indices_or_sections")) : Sections(call.Int("indices_or_sections"));
  return op::Split(call, call.arg(0), {.indices_or_sections = parts, .axis = call.Int("axis")});
}

const Expr* BuildRepeat(OpCall& call) {
  return op::Repeat(call, call.arg(0), {.repeats = call.Int("repeats"), .axis = call.OptInt("axis")});
}

const Expr* BuildTile(OpCall& call) { return op::Tile(call, call.arg(0), {.repeats = call.Ints("reps")}); }

const Expr* BuildReverse(OpCall& call) { return op::Flip(call, call.arg(0), {.axis = call.Int("axis")}); }

const Expr* BuildLayoutTransform(OpCall& call) {
  return TransformLayout(call, call.arg(0), call.String("src_layout"), call.String("dst_layout"));
}

constexpr OperatorRow kManipulate[] = {
    {"concatenate", "data", "axis=0", BuildConcatenate},
    {"contrib_reverse_reshape", "data", "newshape, allowzero=0", BuildReverseReshape},
    {"expand_dims", "data", "axis, num_newaxis=1", BuildExpandDims},
    {"layout_transform", "data", "src_layout, dst_layout", BuildLayoutTransform},
    {"repeat", "data", "repeats, axis=None", BuildRepeat},
    {"reshape", "data", "newshape, allowzero=0", BuildReshape},
    {"reshape_like", "data, shape_like", "lhs_begin=0, lhs_end=None, rhs_begin=0, rhs_end=None", BuildReshapeLike},
    {"reverse", "data", "axis=0", BuildReverse},
    {"split", "data", "indices_or_sections, axis=0", BuildSplit},
    {"squeeze", "data", "axis=None", BuildSqueeze},
    {"stack", "data", "axis=0", BuildStack},
    {"tile", "data", "reps", BuildTile},
    {"transpose", "data", "axes=None", BuildTranspose},
};

}  // namespace

std::span<const OperatorRow> ManipulateOperators() { return kManipulate; }

}  // namespace iropt::relay
