// Random functions of blocks, with the values that they compute.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <utility>

#include "random_schedule.h"

namespace iropt::generate {

namespace {

using Point = std::vector<int>;  // values of axes

struct Dim {
  std::string text;  // a number, or a symbolic size
  int size;
};

struct Array {
  std::string name;
  std::vector<Dim> dims;
  std::vector<int> values = {};

  int At(const Point& point) const {
    size_t flat = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      flat = flat * static_cast<size_t>(dims[i].size) + static_cast<size_t>(point[i]);
    return values[flat];
  }
  int Greatest() const {
    int greatest = 0;
    for (const int value : values) greatest = std::max(greatest, std::abs(value));
    return greatest;
  }
};

// An expression of axes as text, and its value.
struct Term {
  std::string text;
  std::function<int(const Point&)> value;
};

Term Axis(size_t i) {
  return {fmt::format("v{}", i), [i](const Point& point) { return point[i]; }};
}
Term Number(int number) {
  return {fmt::format("{}", number), [number](const Point&) { return number; }};
}
template <class F>
Term Both(const Term& a, std::string_view op, const Term& b, F&& combine) {
  return {fmt::format("({} {} {})", a.text, op, b.text),
          [a = a.value, b = b.value, combine](const Point& p) { return combine(a(p), b(p)); }};
}
Term Sum(const Term& a, const Term& b) { return Both(a, "+", b, std::plus<>()); }
Term Difference(const Term& a, const Term& b) { return Both(a, "-", b, std::minus<>()); }
Term Product(const Term& a, const Term& b) { return Both(a, "*", b, std::multiplies<>()); }
Term Quotient(const Term& a, int b) { return Both(a, "//", Number(b), std::divides<>()); }
Term Last(const Dim& dim) {
  return {fmt::format("({} - 1)", dim.text), [size = dim.size](const Point&) { return size - 1; }};
}

Term Load(const Array& array, const std::vector<Term>& indices) {
  std::vector<std::string> texts;
  for (const Term& index : indices) texts.push_back(index.text);
  return {fmt::format("{}[{}]", array.name, fmt::join(texts, ", ")), [array, indices](const Point& point) {
            Point at;
            for (const Term& index : indices) at.push_back(index.value(point));
            return array.At(at);
          }};
}

// What an element of a stage is: of its axes, first those of the result, then the reduced ones.
struct Stage {
  std::vector<Dim> dims;
  std::vector<Dim> reduced;
  Term value;              // with axes to reduce, what is combined
  bool is_max = false;     // or a sum
  bool binds_var = false;  // the value has the variable t
};

class BlocksWriter {
 public:
  explicit BlocksWriter(Choices& choices) : choices_(choices) {}

  RandomFunction Write() {
    constexpr std::array kSizes = {1, 3, 4, 5, 6, 8, 12};
    dtype_ = choices_.OneIn(5) ? "float32" : "int32";
    const bool is_symbolic = choices_.OneIn(4);
    const int rows = choices_.Pick(kSizes), columns = choices_.Pick(kSizes);
    const std::vector<Dim> dims = {{is_symbolic ? "n" : fmt::format("{}", rows), rows}, ConstDim(columns)};
    arrays_ = {{"A", dims}, {"B", dims}};
    for (Array& array : arrays_) {
      for (int i = 0; i < rows * columns; ++i) array.values.push_back(choices_.Below(9) - 4);
    }
    RandomFunction result;
    for (const Array& array : arrays_) result.inputs.push_back(array.values);
    result.input_shape = {rows, columns};
    const int num_stages = 1 + choices_.Below(4);
    for (int i = 0; i < num_stages; ++i) AddStage(i == num_stages - 1);
    result.expected = arrays_.back().values;
    for (const Dim& dim : arrays_.back().dims) result.output_shape.push_back(dim.size);
    if (dtype_ == "float32") result.expected.clear();
    result.text = is_symbolic ? SymbolicText(dims) : StaticText(dims);
    return result;
  }

 private:
  static constexpr std::string_view kHead = R"(# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
)";

  std::string StaticText(const std::vector<Dim>& dims) {
    std::string params;
    for (const char* name : {"A", "B"}) params += fmt::format(R"({}: T.Buffer({}, "{}"), )", name, Tuple(dims), dtype_);
    return fmt::format("{}    def main({}Y: T.Buffer({}, \"{}\")):\n{}{}", kHead, params, Tuple(arrays_.back().dims),
                       dtype_, allocations_, body_);
  }
  std::string SymbolicText(const std::vector<Dim>& dims) {
    std::string buffers = "        n = T.int32()\n";
    for (const auto& [name, shape] : {std::pair("A", dims), std::pair("B", dims), std::pair("Y", arrays_.back().dims)})
      buffers += fmt::format("        {0} = T.match_buffer(p{0}, {1}, \"{2}\")\n", name, Tuple(shape), dtype_);
    return fmt::format("{}    def main(pA: T.handle, pB: T.handle, pY: T.handle):\n{}{}{}", kHead, buffers,
                       allocations_, body_);
  }

  static Dim ConstDim(int size) { return {fmt::format("{}", size), size}; }
  static std::string Tuple(const std::vector<Dim>& dims) {
    std::string text;
    for (const Dim& dim : dims) text += dim.text + ", ";
    return fmt::format("({})", text);
  }
  Term Constant() {
    const int value = 1 + choices_.Below(3);
    return {fmt::format("T.{}({})", dtype_, value), [value](const Point&) { return value; }};
  }

  void AddStage(bool is_last) {
    const std::string name = is_last ? "Y" : fmt::format("S{}", arrays_.size());
    const Stage stage = MakeStage();
    if (!is_last)
      allocations_ += fmt::format("        {} = T.alloc_buffer({}, \"{}\")\n", name, Tuple(stage.dims), dtype_);
    WriteBlock(name, stage);
    arrays_.push_back({name, stage.dims, Compute(stage)});
  }

  // ---- The values

  static bool Next(Point& point, const std::vector<Dim>& dims) {
    for (size_t i = point.size(); i > 0; --i) {
      if (++point[i - 1] < dims[i - 1].size) return true;
      point[i - 1] = 0;
    }
    return false;
  }

  static std::vector<int> Compute(const Stage& stage) {
    std::vector<int> values;
    Point at(stage.dims.size());
    do {
      Point inner(stage.reduced.size());
      std::optional<int> result;
      do {
        Point point = at;
        point.insert(point.end(), inner.begin(), inner.end());
        const int value = stage.value.value(point);
        result = !result ? value : stage.is_max ? std::max(*result, value) : *result + value;
      } while (Next(inner, stage.reduced));
      values.push_back(*result);
    } while (Next(at, stage.dims));
    return values;
  }

  // ---- The text of a block

  struct Loop {
    std::string name, extent;
  };

  // Loops for an axis, and its value in them: alone, with a loop that runs once, or in two parts, which may need a
  // condition.
  std::string Bind(size_t axis, const Dim& dim, std::vector<Loop>& loops, std::vector<std::string>& conditions) {
    const std::string loop = fmt::format("i{}", axis);
    switch (choices_.Below(8)) {
      case 0:
        loops.insert(loops.end(), {{loop, dim.text}, {loop + "_u", "1"}});
        return choices_.OneIn(2) ? loop : fmt::format("{0} + {0}_u", loop);
      case 1:
      case 2: {
        const int factor = 2 + choices_.Below(3);
        const std::string value = fmt::format("{0}_0 * {1} + {0}_1", loop, factor);
        loops.push_back({loop + "_0", fmt::format("({} + {}) // {}", dim.text, factor - 1, factor)});
        loops.push_back({loop + "_1", fmt::format("{}", factor)});
        if (dim.size % factor != 0 || dim.text == "n" || choices_.OneIn(4))
          conditions.push_back(fmt::format("{} < {}", value, dim.text));
        return value;
      }
      default: loops.push_back({loop, dim.text}); return loop;
    }
  }

  void WriteBlock(const std::string& name, const Stage& stage) {
    std::vector<Loop> loops;
    std::vector<std::string> conditions, indices, axes;
    std::vector<Dim> extents = stage.dims;
    extents.insert(extents.end(), stage.reduced.begin(), stage.reduced.end());
    for (size_t i = 0; i < extents.size(); ++i) {
      const std::string value = Bind(i, extents[i], loops, conditions);
      const bool is_spatial = i < stage.dims.size();
      axes.push_back(
          fmt::format("v{} = T.axis.{}({}, {})", i, is_spatial ? "spatial" : "reduce", extents[i].text, value));
      if (is_spatial) indices.push_back(fmt::format("v{}", i));
    }
    if (choices_.OneIn(6)) loops.insert(loops.begin(), {"u", "1"});
    if (choices_.OneIn(6)) std::rotate(loops.begin(), loops.begin() + 1, loops.end());
    std::string indent(8, ' ');
    const auto line = [&](const std::string& text) { body_ += fmt::format("{}{}\n", indent, text); };
    for (const Loop& loop : loops) {
      line(fmt::format("for {} in range({}):", loop.name, loop.extent));
      indent += "    ";
    }
    line(fmt::format("with T.block(\"{}\"):", name));
    indent += "    ";
    if (!conditions.empty()) line(fmt::format("T.where({})", fmt::join(conditions, " and ")));
    for (const std::string& axis : axes) line(axis);
    if (stage.binds_var) line(fmt::format("t = T.{}()", dtype_));
    const std::string element = fmt::format("{}[{}]", name, fmt::join(indices, ", "));
    if (stage.reduced.empty()) {
      line(fmt::format("{} = {}", element, stage.value.text));
      return;
    }
    line("with T.init():");
    line(fmt::format("    {} = {}", element,
                     stage.is_max ? fmt::format("T.min_value(\"{}\")", dtype_) : fmt::format("T.{}(0)", dtype_)));
    line(stage.is_max ? fmt::format("{0} = T.max({0}, {1})", element, stage.value.text)
                      : fmt::format("{0} = {0} + {1}", element, stage.value.text));
  }

  // ---- Stages

  Stage MakeStage() {
    const Array array = choices_.OneIn(3) ? choices_.Pick(arrays_) : arrays_.back();
    if (array.dims.size() == 1) return choices_.OneIn(3) ? TotalOf(array) : Elementwise(array);
    switch (choices_.Below(9)) {
      case 0: return Shifted(array);
      case 1: return Padded(array);
      case 2: return Reduction(array);
      case 3: return WithTranspose(array);
      case 4: return {{array.dims[1], array.dims[0]}, {}, Load(array, {Axis(1), Axis(0)})};
      case 5: return Reversed(array);
      case 6: return Repeated(array);
      default: return Elementwise(array);
    }
  }

  static std::vector<Term> AxesOf(const Array& array) {
    std::vector<Term> axes;
    for (size_t i = 0; i < array.dims.size(); ++i) axes.push_back(Axis(i));
    return axes;
  }

  Stage Elementwise(const Array& array) {
    const std::vector<Term> axes = AxesOf(array);
    const Term load = Load(array, axes);
    if (choices_.OneIn(4) && array.Greatest() < 1000) {
      // A value that is bound, and used twice.
      const Term bound = Sum(load, Constant());
      const Term square{fmt::format("T.Let(t * t, where={{t: {}}})", bound.text),
                        [bound](const Point& p) { return bound.value(p) * bound.value(p); }};
      return {array.dims, {}, square, false, /*binds_var=*/true};
    }
    Term value = Sum(Product(load, Constant()), Constant());
    for (const Array& other : arrays_) {
      if (SameDims(other.dims, array.dims) && choices_.OneIn(3)) value = Sum(value, Load(other, axes));
      if (array.dims.size() == 2 && SameDims(other.dims, {array.dims[0]}) && choices_.OneIn(2))
        value = Difference(value, Load(other, {Axis(0)}));
    }
    return {array.dims, {}, value};
  }
  static bool SameDims(const std::vector<Dim>& a, const std::vector<Dim>& b) {
    return std::ranges::equal(a, b, {}, &Dim::text, &Dim::text);
  }

  // Sums of neighbours.
  Stage Shifted(const Array& array) {
    const int columns = array.dims[1].size;
    if (columns <= 2 || array.dims[1].text == "n") return Reversed(array);
    Term value = Load(array, {Axis(0), Axis(1)});
    for (const int shift : {1, 2}) value = Sum(value, Load(array, {Axis(0), Sum(Axis(1), Number(shift))}));
    return {{array.dims[0], ConstDim(columns - 2)}, {}, value};
  }

  Stage Padded(const Array& array) {
    const Dim& rows = array.dims[0];
    const Term inside = Load(array, {Difference(Axis(0), Number(1)), Axis(1)});
    const Term pad = Constant();
    const Term value{fmt::format("T.if_then_else(1 <= v0 and v0 < {} + 1, {}, {})", rows.text, inside.text, pad.text),
                     [inside, pad, size = rows.size](const Point& p) {
                       return 1 <= p[0] && p[0] <= size ? inside.value(p) : pad.value(p);
                     }};
    const std::string padded = rows.text == "n" ? "n + 2" : fmt::format("{}", rows.size + 2);
    return {{{padded, rows.size + 2}, array.dims[1]}, {}, value};
  }

  Stage Reduction(const Array& array) {
    const bool by_rows = choices_.OneIn(2);
    const Dim reduced = array.dims[by_rows ? 1 : 0];
    // From the last one to the first one, too.
    const Term reducing = choices_.OneIn(3) ? Difference(Last(reduced), Axis(1)) : Axis(1);
    const Term element = by_rows ? Load(array, {Axis(0), reducing}) : Load(array, {reducing, Axis(0)});
    return {{array.dims[by_rows ? 0 : 1]}, {reduced}, element, choices_.OneIn(3)};
  }

  Stage TotalOf(const Array& array) {
    const Term index = choices_.OneIn(2) ? Difference(Last(array.dims[0]), Axis(1)) : Axis(1);
    return {{ConstDim(1)}, {array.dims[0]}, Load(array, {index}), choices_.OneIn(3)};
  }

  // A product of matrices.
  Stage WithTranspose(const Array& array) {
    const Term factor = Load(array, {Axis(0), Axis(2)});
    const Term other = Load(array, {Axis(1), Axis(2)});
    if (array.Greatest() > 3000) return {array.dims, {}, Load(array, {Axis(0), Axis(1)})};
    return {{array.dims[0], array.dims[0]}, {array.dims[1]}, Product(factor, other)};
  }

  Stage Reversed(const Array& array) {
    return {array.dims, {}, Load(array, {Difference(Last(array.dims[0]), Axis(0)), Axis(1)})};
  }

  // Each column twice.
  Stage Repeated(const Array& array) {
    const int columns = array.dims[1].size;
    if (array.dims[1].text.starts_with('n')) return Reversed(array);
    return {{array.dims[0], ConstDim(2 * columns)}, {}, Load(array, {Axis(0), Quotient(Axis(1), 2)})};
  }

  Choices& choices_;
  std::string dtype_;
  std::vector<Array> arrays_;
  std::string allocations_, body_;
};

}  // namespace

RandomFunction RandomBlocks(Choices& choices) { return BlocksWriter(choices).Write(); }

}  // namespace iropt::generate
