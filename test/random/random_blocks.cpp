// Random functions of blocks, with the values that they compute.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "block_terms.h"
#include "random_schedule.h"

namespace iropt::generate {

namespace {

using Dims = BlockDims;

enum class Reducer : uint8_t { kNone, kSum, kProduct, kMax, kMin };

// What an element of a stage is: of its axes, first those of the result, then the reduced ones.
struct Stage {
  DataType dtype;
  Dims dims;
  Dims reduced;
  Term value;  // with axes to reduce, what is combined
  Reducer reducer = Reducer::kNone;
  int64_t start = 0;       // of a reduction
  bool binds_var = false;  // the value has the variable t, of the same dtype
  bool is_scan = false;    // each element but those at 0 of the first axis is added to the one before it
};

class BlocksWriter {
 public:
  explicit BlocksWriter(Choices& choices) : choices_(choices) {}

  RandomFunction Write() {
    index_ = choices_.OneIn(3) ? DataType::Int(64) : DataType::Int(32);
    Dims dims;
    for (int i = 1 + std::min(2, choices_.Below(4)); i > 0; --i) dims.push_back(InputDim(dims.size()));
    RandomFunction result;
    for (const char* name : {"A", "B"}) {
      BlockArray& array = arrays_.emplace_back(BlockArray{name, InputDtype(), dims});
      for (int64_t i = CountOf(dims); i > 0; --i)
        array.values.push_back(choices_.Below(9) - (array.dtype.is_uint() ? 0 : 4));
      result.inputs.push_back({array.dtype, SizesOf(dims), array.values});
    }
    const int num_stages = 1 + choices_.Below(4);
    for (int i = 0; i < num_stages; ++i) AddStage(i == num_stages - 1);
    const BlockArray& last = arrays_.back();
    result.output = {last.dtype, SizesOf(last.dims), last.values};
    result.text = Text();
    return result;
  }

 private:
  // ---- The function

  BlockDim InputDim(size_t place) {
    const int64_t size = choices_.Pick(std::array{1, 2, 3, 4, 5, 6, 8, 12});
    if (!choices_.OneIn(6)) return ConstDim(size);
    const std::string name = fmt::format("n{}", place);
    symbols_.push_back(name);
    return {name, choices_.OneIn(8) ? 0 : size, true};
  }
  DataType InputDtype() {
    constexpr std::array kDtypes = {"int32", "int32", "int32",  "float32", "float32", "float16",
                                    "int8",  "uint8", "uint16", "int64",   "uint64",  "float64"};
    return *DataType::Parse(choices_.Pick(kDtypes));
  }
  std::string Text() const {
    std::string params, matches;
    for (const std::string& name : symbols_) matches += fmt::format("        {} = T.{}()\n", name, index_.ToString());
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const BlockArray& array = arrays_[i];
      if (i > 1 && i + 1 < arrays_.size()) continue;
      const std::string kind = fmt::format("{}, \"{}\"", Tuple(array.dims), array.dtype.ToString());
      if (symbols_.empty()) {
        params += fmt::format("{}: T.Buffer({}), ", array.name, kind);
      } else {
        params += fmt::format("p{}: T.handle, ", array.name);
        matches += fmt::format("        {0} = T.match_buffer(p{0}, {1})\n", array.name, kind);
      }
    }
    return fmt::format(
        "# from tvm.script import ir as I\n# from tvm.script import tir as T\n\n@I.ir_module\nclass Module:\n"
        "    @T.prim_func\n    def main({}):\n{}{}{}",
        params.substr(0, params.size() - 2), matches, allocations_, body_);
  }

  std::string Int(int64_t number) const {
    return index_.bits == 32 ? fmt::format("{}", number) : fmt::format("T.int64({})", number);
  }
  Term Number(int64_t number) const {
    return {Int(number), [number](const Point&) { return number; }};
  }
  Term Last(const BlockDim& dim) const { return Difference(SizeOf(dim), Number(1)); }
  static Term SizeOf(const BlockDim& dim) {
    return {dim.text, [size = dim.size](const Point&) { return size; }};
  }
  BlockDim ConstDim(int64_t size) const { return {Int(size), size}; }
  BlockDim Longer(const BlockDim& dim, int64_t by) const {
    if (!dim.is_symbolic) return ConstDim(dim.size + by);
    return {fmt::format("({} + {})", dim.text, Int(by)), dim.size + by, true};
  }
  static std::string Tuple(const Dims& dims) {
    std::string text;
    for (const BlockDim& dim : dims) text += dim.text + ", ";
    return fmt::format("({})", text);
  }

  Term Literal(DataType dtype, int64_t value) const {
    return {fmt::format("T.{}({})", dtype.ToString(), value), [value](const Point&) { return value; },
            static_cast<double>(std::abs(value))};
  }
  Term Constant(DataType dtype) { return Literal(dtype, 1 + choices_.Below(3)); }

  void AddStage(bool is_last) {
    const std::string name = is_last ? "Y" : fmt::format("S{}", arrays_.size());
    Stage stage = MakeStage();
    if (!IsExact(stage)) stage = Copy(arrays_[0]);
    if (!is_last)
      allocations_ +=
          fmt::format("        {} = T.alloc_buffer({}, \"{}\")\n", name, Tuple(stage.dims), stage.dtype.ToString());
    WriteBlock(name, stage);
    BlockArray array{name, stage.dtype, stage.dims, Compute(stage)};
    const bool may_update = !stage.dtype.is_bool() && array.Greatest() < ExactUpTo(stage.dtype) / 2;
    if (may_update && choices_.OneIn(8)) Update(array);
    arrays_.push_back(std::move(array));
  }

  static bool IsExact(const Stage& stage) {
    const auto count = static_cast<double>(CountOf(stage.is_scan ? stage.dims : stage.reduced));
    const double bound = stage.value.bound * std::max(count, 1.0) + std::abs(static_cast<double>(stage.start));
    const bool is_narrow = stage.dtype.is_integer() && stage.dtype.bits < 32;
    const bool may_overflow = stage.reducer == Reducer::kProduct && count > 3;
    return !may_overflow && CountOf(stage.dims) <= 600 && (is_narrow || bound <= ExactUpTo(stage.dtype));
  }

  // ---- The values

  static int64_t Combine(const Stage& stage, int64_t so_far, int64_t value) {
    switch (stage.reducer) {
      case Reducer::kSum: return Wrap(so_far + value, stage.dtype);
      case Reducer::kProduct: return Wrap(so_far * value, stage.dtype);
      case Reducer::kMax: return IsLess(so_far, value, stage.dtype) ? value : so_far;
      case Reducer::kMin: return IsLess(value, so_far, stage.dtype) ? value : so_far;
      case Reducer::kNone: break;
    }
    return value;
  }

  static std::vector<int64_t> Compute(const Stage& stage) {
    std::vector<int64_t> values;
    int64_t row = 1;
    for (size_t i = 1; i < stage.dims.size(); ++i) row *= stage.dims[i].size;
    ForEachPoint(stage.dims, [&](const Point& at) {
      int64_t result = stage.start;
      ForEachPoint(stage.reduced, [&](const Point& inner) {
        Point point = at;
        point.insert(point.end(), inner.begin(), inner.end());
        result = Combine(stage, result, Wrap(stage.value.value(point), stage.dtype));
      });
      if (stage.is_scan && at[0] > 0)
        result = Wrap(result + values[values.size() - static_cast<size_t>(row)], stage.dtype);
      values.push_back(result);
    });
    return values;
  }

  // ---- The text of a block

  struct Loop {
    std::string name, begin, end;
    bool is_spatial, is_constant;
  };
  // Axes in loops: the values that they are bound to, and conditions.
  struct Nest {
    std::vector<Loop> loops;
    std::vector<std::string> values, conditions;
  };

  Loop MakeLoop(std::string name, const BlockDim& dim, bool is_spatial) const {
    return {std::move(name), "", dim.text, is_spatial, !dim.is_symbolic};
  }

  // Loops for an axis, and its value in them.
  void Bind(size_t axis, const BlockDim& dim, bool is_spatial, Nest& nest) {
    const std::string loop = fmt::format("i{}", axis);
    switch (choices_.Below(12)) {
      case 0:
        nest.loops.insert(nest.loops.end(),
                          {MakeLoop(loop, dim, is_spatial), MakeLoop(loop + "_u", ConstDim(1), true)});
        return nest.values.push_back(choices_.OneIn(2) ? loop : fmt::format("{0} + {0}_u", loop));
      case 1:
      case 2: return BindParts(loop, dim, is_spatial, nest);
      case 3: {
        const std::string begin = Int(1 + choices_.Below(4));
        nest.loops.push_back({loop, begin, fmt::format("{} + {}", dim.text, begin), is_spatial, !dim.is_symbolic});
        return nest.values.push_back(fmt::format("{} - {}", loop, begin));
      }
      case 4:
        // Reductions begin with the first values of their axes.
        if (!is_spatial) break;
        nest.loops.push_back(MakeLoop(loop, dim, is_spatial));
        return nest.values.push_back(fmt::format("{} - {} - {}", dim.text, Int(1), loop));
      case 5:
        if (dim.size != 1 || dim.is_symbolic) break;
        return nest.values.push_back(Int(0));
      default: break;
    }
    nest.loops.push_back(MakeLoop(loop, dim, is_spatial));
    nest.values.push_back(loop);
  }

  // Two loops, which may need a condition.
  void BindParts(const std::string& loop, const BlockDim& dim, bool is_spatial, Nest& nest) {
    const int64_t factor = 2 + choices_.Below(3);
    const std::string value = fmt::format("{0}_0 * {1} + {0}_1", loop, Int(factor));
    const BlockDim outer =
        dim.is_symbolic ? BlockDim{fmt::format("({} + {}) // {}", dim.text, Int(factor - 1), Int(factor)), 0, true}
                        : ConstDim((dim.size + factor - 1) / factor);
    nest.loops.push_back(MakeLoop(loop + "_0", outer, is_spatial));
    nest.loops.push_back(MakeLoop(loop + "_1", ConstDim(factor), is_spatial));
    if (dim.size % factor != 0 || dim.is_symbolic || choices_.OneIn(4))
      nest.conditions.push_back(fmt::format("{} < {}", value, dim.text));
    nest.values.push_back(value);
  }

  // Axes in [begin, end): each alone, or two of one kind in one loop.
  Nest MakeNest(const Dims& extents, size_t num_spatial, size_t begin, size_t end) {
    Nest nest;
    for (size_t i = begin; i < end; ++i) {
      const bool is_pair = i + 1 < end && (i + 1 < num_spatial || i >= num_spatial);
      if (!is_pair || !choices_.OneIn(8)) {
        Bind(i, extents[i], i < num_spatial, nest);
        continue;
      }
      const std::string loop = fmt::format("i{}_{}", i, i + 1), inner = extents[i + 1].text;
      const bool is_symbolic = extents[i].is_symbolic || extents[i + 1].is_symbolic;
      nest.loops.push_back(
          MakeLoop(loop, {fmt::format("{} * {}", extents[i].text, inner), 0, is_symbolic}, i < num_spatial));
      nest.values.push_back(fmt::format("{} // {}", loop, inner));
      nest.values.push_back(fmt::format("{} % {}", loop, inner));
      ++i;
    }
    return nest;
  }

  void Line(const std::string& text) { body_ += fmt::format("{}{}\n", indent_, text); }
  void Open(const std::string& text) {
    Line(text);
    indent_ += "    ";
  }

  void OpenLoops(const Nest& nest, bool may_be_vector) {
    for (size_t i = 0; i < nest.loops.size(); ++i) {
      const Loop& loop = nest.loops[i];
      std::string_view kind = "range";
      if (loop.is_spatial && i == 0 && choices_.OneIn(12)) kind = "T.parallel";
      if (loop.is_constant && choices_.OneIn(16)) kind = "T.unroll";
      if (may_be_vector && loop.is_spatial && loop.is_constant && i + 1 == nest.loops.size() && choices_.OneIn(10))
        kind = "T.vectorized";
      Open(fmt::format("for {} in {}({}{}{}):", loop.name, kind, loop.begin, loop.begin.empty() ? "" : ", ", loop.end));
    }
  }

  void OpenBlock(const std::string& name, const Nest& nest, const Dims& extents, size_t begin, const Stage& stage) {
    Open(fmt::format("with T.block(\"{}\"):", name));
    if (!nest.conditions.empty()) Line(fmt::format("T.where({})", fmt::join(nest.conditions, " and ")));
    for (size_t i = 0; i < nest.values.size(); ++i) {
      const size_t axis = begin + i;
      const char* kind = stage.is_scan && axis == 0 ? "opaque" : axis < stage.dims.size() ? "spatial" : "reduce";
      Line(fmt::format("v{} = T.axis.{}({}, {})", axis, kind, extents[axis].text, nest.values[i]));
    }
  }

  void WriteBlock(const std::string& name, const Stage& stage) {
    Dims extents = stage.dims;
    extents.insert(extents.end(), stage.reduced.begin(), stage.reduced.end());
    const size_t num_spatial = stage.dims.size();
    indent_ = std::string(8, ' ');
    size_t begin = 0;
    const bool is_plain = stage.reduced.empty() && !stage.is_scan;
    if (extents.size() > 1 && !stage.is_scan && choices_.OneIn(8)) {
      // The outer axes are those of a block around it.
      begin = 1 + static_cast<size_t>(choices_.Below(static_cast<int>(std::min(num_spatial, extents.size() - 1))));
      const Nest outer = MakeNest(extents, num_spatial, 0, begin);
      OpenLoops(outer, false);
      OpenBlock(name + "_outer", outer, extents, 0, stage);
    }
    // Loops of a sum along an axis have an order, as those of a reduction.
    Nest nest = MakeNest(extents, stage.is_scan ? 0 : num_spatial, begin, extents.size());
    if (choices_.OneIn(6)) nest.loops.insert(nest.loops.begin(), MakeLoop("u", ConstDim(1), true));
    if (choices_.OneIn(6) && !stage.is_scan && !nest.loops.empty())
      std::rotate(nest.loops.begin(), nest.loops.begin() + 1, nest.loops.end());
    OpenLoops(nest, is_plain);
    OpenBlock(name, nest, extents, begin, stage);
    if (stage.binds_var) Line(fmt::format("t = T.{}()", stage.dtype.ToString()));
    std::vector<std::string> indices;
    for (size_t i = 0; i < num_spatial; ++i) indices.push_back(fmt::format("v{}", i));
    WriteStores(fmt::format("{}[{}]", name, fmt::join(indices, ", ")), name, indices, stage);
  }

  void WriteStores(const std::string& element, const std::string& name, std::vector<std::string> indices,
                   const Stage& stage) {
    const std::string& value = stage.value.text;
    if (stage.is_scan) {
      indices[0] = fmt::format("v0 - {}", Int(1));
      return Line(fmt::format("{} = T.if_then_else(v0 > {}, {}[{}], {}) + {}", element, Int(0), name,
                              fmt::join(indices, ", "), Literal(stage.dtype, 0).text, value));
    }
    if (stage.reducer == Reducer::kNone) return Line(fmt::format("{} = {}", element, value));
    Line("with T.init():");
    Line(fmt::format("    {} = {}", element, Literal(stage.dtype, stage.start).text));
    switch (stage.reducer) {
      case Reducer::kSum: return Line(fmt::format("{0} = {0} + {1}", element, value));
      case Reducer::kProduct: return Line(fmt::format("{0} = {0} * {1}", element, value));
      case Reducer::kMax: return Line(fmt::format("{0} = T.max({0}, {1})", element, value));
      default: return Line(fmt::format("{0} = T.min({0}, {1})", element, value));
    }
  }

  // A block that adds to some rows of an array.
  void Update(BlockArray& array) {
    indent_ = std::string(8, ' ');
    Nest nest;
    for (size_t i = 0; i < array.dims.size(); ++i) Bind(i, array.dims[i], true, nest);
    const int64_t first = choices_.Below(3);
    const Term added = Constant(array.dtype);
    if (first > 0) nest.conditions.push_back(fmt::format("{} <= {}", Int(first), nest.values[0]));
    OpenLoops(nest, false);
    Stage stage{array.dtype, array.dims, {}, added};
    OpenBlock(array.name + "_update", nest, array.dims, 0, stage);
    std::vector<std::string> indices;
    for (size_t i = 0; i < array.dims.size(); ++i) indices.push_back(fmt::format("v{}", i));
    const std::string element = fmt::format("{}[{}]", array.name, fmt::join(indices, ", "));
    Line(fmt::format("{0} = {0} + {1}", element, added.text));
    size_t place = 0;
    ForEachPoint(array.dims, [&](const Point& at) {
      int64_t& value = array.values[place++];
      if (at[0] >= first) value = Wrap(value + added.value(at), array.dtype);
    });
  }

  // ---- Stages

  Stage MakeStage() {
    const BlockArray array = choices_.OneIn(3) ? choices_.Pick(arrays_) : arrays_.back();
    const DataType dtype = ResultDtype(array);
    const auto axis = static_cast<size_t>(choices_.Below(static_cast<int>(array.dims.size())));
    switch (choices_.Below(13)) {
      case 0: return Shifted(array, dtype, axis);
      case 1: return Padded(array, dtype, axis);
      case 2:
      case 3:
      case 4: return Reduction(array, dtype);
      case 5: return array.dims.size() == 2 ? WithTranspose(array, dtype) : Reduction(array, dtype);
      case 6: return Permuted(array, dtype);
      case 7: return Reversed(array, dtype, axis);
      case 8: return Repeated(array, dtype, axis);
      case 9: return Gathered(array, dtype, axis);
      case 10: return choices_.OneIn(2) ? Mask(array) : Scan(array, dtype);
      default: return Elementwise(array, dtype);
    }
  }

  // Of a stage that reads the array: that of the array, or another one that has its elements.
  DataType ResultDtype(const BlockArray& array) {
    if (!array.dtype.is_bool() && !choices_.OneIn(5)) return array.dtype;
    const DataType dtype = InputDtype();
    const bool is_narrow = array.dtype.is_floating() && dtype.is_integer() && (dtype.is_uint() || dtype.bits < 32);
    if (is_narrow || array.Greatest() > ExactUpTo(dtype))
      return array.dtype.is_bool() ? DataType::Int(32) : array.dtype;
    return dtype;
  }
  // The element in a dtype.
  static Term As(DataType dtype, const BlockArray& array, const std::vector<Term>& indices) {
    return Cast(Load(array, indices), array.dtype, dtype);
  }
  static std::vector<Term> AxesOf(const BlockArray& array) {
    std::vector<Term> axes;
    for (size_t i = 0; i < array.dims.size(); ++i) axes.push_back(Axis(i));
    return axes;
  }

  Stage Copy(const BlockArray& array) const { return {array.dtype, array.dims, {}, Load(array, AxesOf(array))}; }

  Stage Elementwise(const BlockArray& array, DataType dtype) {
    const std::vector<Term> axes = AxesOf(array);
    const Term load = As(dtype, array, axes);
    if (choices_.OneIn(4)) {
      // A value that is bound, and used twice.
      const Term bound = Sum(load, Constant(dtype));
      Term square = Product(bound, bound);
      square.text = fmt::format("T.Let(t * t, where={{t: {}}})", bound.text);
      return {dtype, array.dims, {}, square, Reducer::kNone, 0, /*binds_var=*/true};
    }
    Term value = Sum(Product(load, Constant(dtype)), Constant(dtype));
    if (choices_.OneIn(6)) value = Sum(value, IndexValue(dtype, array));
    for (const BlockArray& other : arrays_) {
      if (!CanRead(other, dtype)) continue;
      if (SameDims(other.dims, array.dims) && choices_.OneIn(3)) value = Sum(value, As(dtype, other, axes));
      if (array.dims.size() == 2 && SameDims(other.dims, {array.dims[0]}) && choices_.OneIn(2))
        value = Difference(value, As(dtype, other, {Axis(0)}));
    }
    if (!choices_.OneIn(4)) return {dtype, array.dims, {}, value};
    const std::string_view function = choices_.OneIn(2) ? "T.Select" : "T.if_then_else";
    const Term other = choices_.OneIn(2) ? Constant(dtype) : Extreme(choices_.OneIn(2), load, Constant(dtype), dtype);
    return {dtype, array.dims, {}, Choice(function, Condition(load, dtype), value, other)};
  }
  // Whether its elements have values in the dtype.
  static bool CanRead(const BlockArray& array, DataType dtype) {
    if (array.dtype.is_floating() && dtype.is_integer()) return false;
    return dtype.is_integer() || array.Greatest() <= ExactUpTo(dtype);
  }
  Term IndexValue(DataType dtype, const BlockArray& array) const {
    Term value = Cast(Axis(array.dims.size() - 1), index_, dtype);
    value.bound = static_cast<double>(array.dims.back().size);
    return value;
  }
  Term Condition(const Term& load, DataType dtype) {
    if (choices_.OneIn(2)) return Less(load, Constant(dtype), dtype);
    return choices_.OneIn(2) ? Less(Axis(0), Number(1 + choices_.Below(4)), index_)
                             : Less(Remainder(Axis(0), Number(2)), Number(1), index_);
  }
  static bool SameDims(const Dims& a, const Dims& b) {
    return std::ranges::equal(a, b, {}, &BlockDim::text, &BlockDim::text);
  }

  // Sums of neighbours.
  Stage Shifted(const BlockArray& array, DataType dtype, size_t axis) {
    const BlockDim& dim = array.dims[axis];
    if (dim.size <= 2 || dim.is_symbolic) return Reversed(array, dtype, axis);
    std::vector<Term> indices = AxesOf(array);
    Term value = As(dtype, array, indices);
    for (const int shift : {1, 2}) {
      indices[axis] = Sum(Axis(axis), Number(shift));
      value = Sum(value, As(dtype, array, indices));
    }
    Stage stage{dtype, array.dims, {}, value};
    stage.dims[axis] = ConstDim(dim.size - 2);
    return stage;
  }

  Stage Padded(const BlockArray& array, DataType dtype, size_t axis) {
    const int64_t before = choices_.Below(3), after = choices_.Below(3);
    std::vector<Term> indices = AxesOf(array);
    indices[axis] = Difference(Axis(axis), Number(before));
    const BlockDim& dim = array.dims[axis];
    const Term inside = As(dtype, array, indices);
    const Term pad = Constant(dtype);
    const Term value{fmt::format("T.if_then_else({0} <= v{1} and v{1} < {2} + {0}, {3}, {4})", Int(before), axis,
                                 dim.text, inside.text, pad.text),
                     [=, size = dim.size](const Point& p) {
                       return before <= p[axis] && p[axis] < size + before ? inside.value(p) : pad.value(p);
                     },
                     std::max(inside.bound, pad.bound)};
    Stage stage{dtype, array.dims, {}, value};
    stage.dims[axis] = Longer(dim, before + after);
    return stage;
  }

  // Over some axes, from the first to the last or the other way around.
  Stage Reduction(const BlockArray& array, DataType dtype) {
    Stage stage{dtype, {}, {}, {}};
    std::vector<bool> is_reduced;
    for (const BlockDim& dim : array.dims) {
      is_reduced.push_back(choices_.OneIn(2));
      (is_reduced.back() ? stage.reduced : stage.dims).push_back(dim);
    }
    if (stage.reduced.empty()) {
      is_reduced.back() = true;
      stage.reduced = {array.dims.back()};
      stage.dims.pop_back();
    }
    // A result has an axis at least.
    const bool is_total = stage.dims.empty();
    if (is_total) stage.dims = {ConstDim(1)};
    std::vector<Term> indices;
    size_t spatial = 0, reduced = stage.dims.size();
    for (size_t i = 0; i < array.dims.size(); ++i) {
      const Term axis = Axis(is_reduced[i] ? reduced++ : spatial++);
      indices.push_back(is_reduced[i] && choices_.OneIn(3) ? Difference(Last(array.dims[i]), axis) : axis);
    }
    stage.value = As(dtype, array, indices);
    if (choices_.OneIn(3)) stage.value = Product(stage.value, Constant(dtype));
    constexpr std::array kReducers = {Reducer::kSum, Reducer::kSum, Reducer::kMax, Reducer::kMin, Reducer::kProduct};
    SetReducer(stage, choices_.Pick(kReducers));
    return stage;
  }
  void SetReducer(Stage& stage, Reducer reducer) {
    stage.reducer = reducer;
    const int64_t least = stage.dtype.is_uint() ? 0 : -100;
    const bool is_unusual = choices_.OneIn(8);
    switch (reducer) {
      case Reducer::kProduct: stage.start = is_unusual ? 2 : 1; break;
      case Reducer::kMax: stage.start = least; break;
      case Reducer::kMin: stage.start = 100; break;
      default: stage.start = is_unusual ? 2 : 0; break;
    }
    if (reducer == Reducer::kProduct) stage.value.bound = std::pow(std::max(stage.value.bound, 2.0), 3);
  }

  // A matrix product.
  Stage WithTranspose(const BlockArray& array, DataType dtype) {
    const Term factor = As(dtype, array, {Axis(0), Axis(2)}), other = As(dtype, array, {Axis(1), Axis(2)});
    Stage stage{dtype, {array.dims[0], array.dims[0]}, {array.dims[1]}, Product(factor, other)};
    stage.reducer = Reducer::kSum;
    return stage;
  }

  Stage Permuted(const BlockArray& array, DataType dtype) {
    std::vector<size_t> order;
    for (size_t i = 0; i < array.dims.size(); ++i)
      order.insert(order.begin() + choices_.Below(static_cast<int>(i) + 1), i);
    Stage stage{dtype, {}, {}, {}};
    std::vector<Term> indices(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      stage.dims.push_back(array.dims[order[i]]);
      indices[order[i]] = Axis(i);
    }
    stage.value = As(dtype, array, indices);
    return stage;
  }

  Stage Reversed(const BlockArray& array, DataType dtype, size_t axis) {
    std::vector<Term> indices = AxesOf(array);
    indices[axis] = Difference(Last(array.dims[axis]), Axis(axis));
    return {dtype, array.dims, {}, As(dtype, array, indices)};
  }

  // Each element of an axis twice, next to each other or one row after the other.
  Stage Repeated(const BlockArray& array, DataType dtype, size_t axis) {
    const BlockDim& dim = array.dims[axis];
    if (dim.is_symbolic) return Reversed(array, dtype, axis);
    std::vector<Term> indices = AxesOf(array);
    indices[axis] = choices_.OneIn(2) ? Quotient(Axis(axis), Number(2)) : Remainder(Axis(axis), Number(dim.size));
    Stage stage{dtype, array.dims, {}, As(dtype, array, indices)};
    stage.dims[axis] = ConstDim(2 * dim.size);
    return stage;
  }

  // Elements whose place on an axis is an element of another array.
  Stage Gathered(const BlockArray& array, DataType dtype, size_t axis) {
    const BlockDim& dim = array.dims[axis];
    const BlockArray& places = choices_.Pick(arrays_);
    if (dim.is_symbolic || !places.dtype.is_integer() || places.dtype.is_bool() || !SameDims(places.dims, array.dims))
      return Elementwise(array, dtype);
    std::vector<Term> indices = AxesOf(array);
    const Term place = Extreme(true, Load(places, indices), Literal(places.dtype, 0), places.dtype);
    indices[axis] =
        Cast(Extreme(false, place, Literal(places.dtype, dim.size - 1), places.dtype), places.dtype, index_);
    return {dtype, array.dims, {}, As(dtype, array, indices)};
  }

  Stage Mask(const BlockArray& array) {
    if (array.dtype.is_bool()) return Elementwise(array, DataType::Int(32));
    return {DataType::Bool(), array.dims, {}, Less(Load(array, AxesOf(array)), Constant(array.dtype), array.dtype)};
  }

  Stage Scan(const BlockArray& array, DataType dtype) {
    Stage stage{dtype, array.dims, {}, As(dtype, array, AxesOf(array))};
    stage.is_scan = true;
    return stage;
  }

  Choices& choices_;
  DataType index_;
  std::vector<std::string> symbols_;
  std::vector<BlockArray> arrays_;
  std::string allocations_, body_, indent_;
};

}  // namespace

RandomFunction RandomBlocks(Choices& choices) { return BlocksWriter(choices).Write(); }

}  // namespace iropt::generate
