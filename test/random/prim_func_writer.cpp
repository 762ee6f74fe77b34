#include "prim_func_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace iropt::generate {

namespace {

class PrimFuncWriter {
 public:
  PrimFuncWriter(Choices& choices, const std::vector<Type>& params)
      : choices_(choices), params_(params), dtype_(params[0].dtype), dims_(params[0].dims) {
    for (const Dim& dim : dims_) extents_.push_back(Extent(dim));
  }

  WrittenPrimFunc Write(const std::string& name) {
    const int kind = choices_.Below(dims_.size() > 1 ? 5 : 3);
    switch (kind) {
      case 0: WriteElementwise(ResultBuffer(dims_), Loads()); break;
      case 1: WriteStages(); break;
      case 2: WriteTwoResults(); break;
      case 3: WriteReduction(); break;
      default: WriteTransposition(); break;
    }
    return {{name, params_, results_}, Signature(name) + body_};
  }

 private:
  using Texts = std::vector<std::string>;

  // Dimensions that are not constant become variables of the PrimFunc.
  std::string Extent(const Dim& dim) {
    if (dim.is_static()) return fmt::format("T.int64({})", dim.offset);
    const auto found = std::ranges::find(symbolic_, dim);
    const auto index = found - symbolic_.begin();
    if (found == symbolic_.end()) symbolic_.push_back(dim);
    return fmt::format("s{}", index);
  }

  std::string BufferShape(const Dims& dims) {
    Texts texts;
    for (const Dim& dim : dims) texts.push_back(Extent(dim));
    return fmt::format("({}{})", Join(texts), texts.size() == 1 ? "," : "");
  }

  std::string Signature(const std::string& name) {
    Texts params;
    std::string matches;
    const auto add = [&](const std::string& buffer, const Type& type) {
      if (symbolic_.empty()) {
        params.push_back(fmt::format("{}: T.Buffer({}, \"{}\")", buffer, BufferShape(type.dims), type.dtype));
      } else {
        params.push_back(fmt::format("p_{}: T.handle", buffer));
        matches += fmt::format("        {0} = T.match_buffer(p_{0}, {1}, \"{2}\")\n", buffer, BufferShape(type.dims),
                               type.dtype);
      }
    };
    for (size_t i = 0; i < params_.size(); ++i) add(fmt::format("A{}", i), params_[i]);
    for (size_t i = 0; i < results_.size(); ++i) add(fmt::format("C{}", i), results_[i]);
    const bool is_private = !choices_.OneIn(4);
    std::string text =
        fmt::format("    @T.prim_func{}\n    def {}({}):\n", is_private ? "(private=True)" : "", name, Join(params));
    if (!is_private && choices_.OneIn(3))
      text += fmt::format("        T.func_attr({{\"global_symbol\": \"{}_symbol\"}})\n", name);
    for (size_t i = 0; i < symbolic_.size(); ++i) text += fmt::format("        s{} = T.int64()\n", i);
    return text + matches;
  }

  std::string ResultBuffer(const Dims& dims) {
    results_.push_back({dtype_, dims});
    return fmt::format("C{}", results_.size() - 1);
  }

  Texts LoopVars() const {
    Texts vars;
    for (size_t i = 0; i < dims_.size(); ++i) vars.push_back(fmt::format("i{}", i));
    return vars;
  }
  Texts Axes() const {
    Texts axes;
    for (size_t i = 0; i < dims_.size(); ++i) axes.push_back(fmt::format("v{}", i));
    return axes;
  }

  // The parameters at the axes.
  Texts Loads() const {
    Texts loads;
    for (size_t i = 0; i < params_.size(); ++i) loads.push_back(fmt::format("A{}[{}]", i, Join(Axes())));
    return loads;
  }

  void Line(int indent, const std::string& text) {
    body_ += fmt::format("{}{}\n", std::string(static_cast<size_t>(indent) * 4, ' '), text);
  }

  std::string Constant() {
    return fmt::format("T.{}({})", dtype_,
                       dtype_ == "float32" ? choices_.Pick(Texts{"0.5", "-1.25", "2.0", "0.0"})
                                           : choices_.Pick(Texts{"1", "-2", "3", "0"}));
  }

  // An expression of the loads and of the axes.
  std::string Expression(const Texts& loads, int depth) {
    if (depth == 0) {
      const int leaf = choices_.Below(6);
      if (leaf == 4) return Constant();
      if (leaf == 5) return fmt::format("T.Cast(\"{}\", {})", dtype_, choices_.Pick(Axes()));
      return choices_.Pick(loads);
    }
    const std::string a = Expression(loads, depth - 1);
    const std::string b = Expression(loads, depth - 1);
    switch (choices_.Below(dtype_ == "float32" ? 9 : 7)) {
      case 0: return fmt::format("({} + {})", a, b);
      case 1: return fmt::format("({} - {})", a, b);
      case 2: return fmt::format("({} * {})", a, b);
      case 3: return fmt::format("T.max({}, {})", a, b);
      case 4: return fmt::format("T.min({}, {})", a, b);
      case 5: return fmt::format("T.if_then_else({} < T.int64(1), {}, {})", choices_.Pick(Axes()), a, b);
      case 6: return fmt::format("T.Select({} < {}, {}, {})", a, b, b, Constant());
      case 7: return fmt::format("T.tanh({})", a);
      default: return fmt::format("T.exp({})", a);
    }
  }

  // All elements of a buffer with the dimensions of the parameters, in one of several forms.
  void WriteElementwise(const std::string& buffer, const Texts& loads) {
    const std::string store =
        fmt::format("{}[{}] = {}", buffer, Join(Axes()), Expression(loads, 1 + choices_.Below(2)));
    const Dim& last = dims_.back();
    const int form = choices_.Below(last.is_static() ? 6 : 3);
    if (form == 0) return WriteBlock(store);
    if (form < 3) return WriteLoops(form == 1 ? "range" : "T.parallel", "range", store);
    if (form == 3) return WriteLoops("range", "T.vectorized", store);
    WriteSplitBlock(store, form == 5 ? 3 : 2);
  }

  void WriteBlock(const std::string& store) {
    Line(2, fmt::format("for {} in T.grid({}):", Join(LoopVars()), Join(extents_)));
    Line(3, fmt::format("with T.block(\"b{}\"):", num_blocks_++));
    for (size_t i = 0; i < dims_.size(); ++i) Line(4, fmt::format("v{0} = T.axis.spatial({1}, i{0})", i, extents_[i]));
    Line(4, store);
  }

  // Loops without a block, whose variables are the axes.
  void WriteLoops(const char* first, const char* last, const std::string& store) {
    const int ndim = static_cast<int>(dims_.size());
    for (int i = 0; i < ndim; ++i) {
      const char* kind = i == ndim - 1 ? last : i == 0 ? first : "range";
      Line(2 + i, fmt::format("for v{} in {}({}):", i, kind, extents_[static_cast<size_t>(i)]));
    }
    Line(2 + ndim, store);
  }

  // The last loop is split; a predicate excludes what is too much.
  void WriteSplitBlock(const std::string& store, int64_t factor) {
    const int64_t extent = dims_.back().offset;
    Texts vars = LoopVars();
    vars.push_back("inner");
    Texts extents = extents_;
    extents.back() = fmt::format("T.int64({})", (extent + factor - 1) / factor);
    extents.push_back(fmt::format("T.int64({})", factor));
    const std::string index = fmt::format("i{} * T.int64({}) + inner", dims_.size() - 1, factor);
    Line(2, fmt::format("for {} in T.grid({}):", Join(vars), Join(extents)));
    Line(3, fmt::format("with T.block(\"b{}\"):", num_blocks_++));
    for (size_t i = 0; i + 1 < dims_.size(); ++i)
      Line(4, fmt::format("v{0} = T.axis.spatial({1}, i{0})", i, extents_[i]));
    Line(4, fmt::format("v{} = T.axis.spatial({}, {})", dims_.size() - 1, extents_.back(), index));
    if (extent % factor != 0) Line(4, fmt::format("T.where({} < T.int64({}))", index, extent));
    Line(4, store);
  }

  void WriteStages() {
    Line(2, fmt::format("B = T.alloc_buffer({}, \"{}\")", BufferShape(dims_), dtype_));
    WriteElementwise("B", Loads());
    Texts loads = Loads();
    loads.push_back(fmt::format("B[{}]", Join(Axes())));
    WriteElementwise(ResultBuffer(dims_), loads);
  }

  void WriteTwoResults() {
    WriteElementwise(ResultBuffer(dims_), Loads());
    WriteElementwise(ResultBuffer(dims_), Loads());
  }

  // Along the last axis.
  void WriteReduction() {
    const bool is_float = dtype_ == "float32";
    const std::string buffer = ResultBuffer({dims_.begin(), dims_.end() - 1});
    Texts kept = Axes();
    kept.pop_back();
    const std::string target = fmt::format("{}[{}]", buffer, Join(kept));
    const std::string value = Expression(Loads(), choices_.Below(2));
    const int kind = choices_.Below(3);
    const char* const starts[] = {"0", is_float ? "-1e30" : "-1000000", is_float ? "1e30" : "1000000"};
    const char* const updates[] = {"{} + {}", "T.max({}, {})", "T.min({}, {})"};
    Line(2, fmt::format("for {} in T.grid({}):", Join(LoopVars()), Join(extents_)));
    Line(3, "with T.block(\"reduce\"):");
    for (size_t i = 0; i < dims_.size(); ++i) {
      const char* axis = i + 1 == dims_.size() ? "reduce" : "spatial";
      Line(4, fmt::format("v{0} = T.axis.{1}({2}, i{0})", i, axis, extents_[i]));
    }
    Line(4, "with T.init():");
    Line(5, fmt::format("{} = T.{}({})", target, dtype_, starts[kind]));
    Line(4, fmt::format("{} = {}", target, fmt::format(fmt::runtime(updates[kind]), target, value)));
  }

  // Of the first two axes.
  void WriteTransposition() {
    Dims swapped = dims_;
    std::swap(swapped[0], swapped[1]);
    Texts axes = Axes();
    std::swap(axes[0], axes[1]);
    WriteBlock(fmt::format("{}[{}] = {}", ResultBuffer(swapped), Join(axes), Expression(Loads(), choices_.Below(2))));
  }

  Choices& choices_;
  std::vector<Type> params_;
  std::string dtype_;
  Dims dims_;
  Dims symbolic_ = {};
  Texts extents_ = {};
  std::vector<Type> results_ = {};
  std::string body_ = {};
  int num_blocks_ = 0;
};

}  // namespace

bool FitsPrimFunc(const Type& type) {
  return (type.dtype == "float32" || type.dtype == "int32") && type.ndim() >= 1 && type.ndim() <= 3;
}

WrittenPrimFunc WritePrimFunc(Choices& choices, const std::string& name, const std::vector<Type>& params) {
  return PrimFuncWriter(choices, params).Write(name);
}

}  // namespace iropt::generate
