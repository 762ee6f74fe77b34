// Random functions of blocks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "random_schedule.h"

namespace iropt::generate {

namespace {

struct Array {
  std::string name;
  std::vector<int> dims;
};

class BlocksWriter {
 public:
  explicit BlocksWriter(Choices& choices) : choices_(choices) {}

  std::string Write() {
    constexpr std::array kSizes = {4, 6, 8, 12};
    dtype_ = choices_.OneIn(4) ? "int32" : "float32";
    const std::vector<int> dims = {choices_.Pick(kSizes), choices_.Pick(kSizes)};
    arrays_ = {{"A", dims}, {"B", dims}};
    const int num_stages = 1 + choices_.Below(4);
    for (int i = 0; i < num_stages; ++i) AddStage(i == num_stages - 1);
    std::string params;
    for (const char* name : {"A", "B"}) params += fmt::format(R"({}: T.Buffer({}, "{}"), )", name, Tuple(dims), dtype_);
    return fmt::format(R"(# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def main({}Y: T.Buffer({}, "{}")):
{}{})",
                       params, Tuple(arrays_.back().dims), dtype_, allocations_, body_);
  }

 private:
  static std::string Tuple(const std::vector<int>& dims) {
    return fmt::format("({}{})", fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
  }

  std::string Constant() { return fmt::format("T.{}({})", dtype_, 1 + choices_.Below(5)); }

  // What an element of a stage is: axes with their kinds and extents, and the value at them.
  struct Stage {
    std::vector<int> dims;      // of the result
    std::vector<int> reduced;   // further axes
    std::string value;          // without a reduction
    std::string init, combine;  // with one; {} stands for the element so far
  };

  void AddStage(bool is_last) {
    const std::string name = is_last ? "Y" : fmt::format("S{}", arrays_.size());
    const Stage stage = MakeStage();
    if (!is_last)
      allocations_ += fmt::format("        {} = T.alloc_buffer({}, \"{}\")\n", name, Tuple(stage.dims), dtype_);
    std::vector<int> extents = stage.dims;
    extents.insert(extents.end(), stage.reduced.begin(), stage.reduced.end());
    std::vector<std::string> loops, axes, kinds, indices;
    for (size_t i = 0; i < extents.size(); ++i) {
      loops.push_back(fmt::format("i{}", i));
      axes.push_back(fmt::format("v{}", i));
      kinds.emplace_back(i < stage.dims.size() ? "S" : "R");
      if (i < stage.dims.size()) indices.push_back(axes.back());
    }
    const std::string element = fmt::format("{}[{}]", name, fmt::join(indices, ", "));
    const std::string target = extents.size() == 1 ? fmt::format("range({})", extents[0])
                                                   : fmt::format("T.grid({})", fmt::join(extents, ", "));
    body_ +=
        fmt::format("        for {} in {}:\n            with T.block(\"{}\"):\n", fmt::join(loops, ", "), target, name);
    body_ += extents.size() == 1 ? fmt::format("                v0 = T.axis.spatial({}, i0)\n", extents[0])
                                 : fmt::format("                {} = T.axis.remap(\"{}\", [{}])\n",
                                               fmt::join(axes, ", "), fmt::join(kinds, ""), fmt::join(loops, ", "));
    if (!stage.reduced.empty()) {
      body_ += fmt::format("                with T.init():\n                    {} = {}\n", element, stage.init);
      body_ += fmt::format("                {} = {}\n", element, fmt::format(fmt::runtime(stage.combine), element));
    } else {
      body_ += fmt::format("                {} = {}\n", element, stage.value);
    }
    arrays_.push_back({name, stage.dims});
  }

  Stage MakeStage() {
    const Array& array = choices_.OneIn(3) ? choices_.Pick(arrays_) : arrays_.back();
    if (array.dims.size() == 1) return Elementwise(array);
    switch (choices_.Below(6)) {
      case 0: return Shifted(array);
      case 1: return Reduction(array);
      case 2: return Product(array);
      case 3: return {{array.dims[1], array.dims[0]}, {}, fmt::format("{}[v1, v0]", array.name), {}, {}};
      default: return Elementwise(array);
    }
  }

  Stage Elementwise(const Array& array) {
    const std::string indices = array.dims.size() == 1 ? "v0" : "v0, v1";
    std::string value = fmt::format("{}[{}] * {} + {}", array.name, indices, Constant(), Constant());
    for (const Array& other : arrays_) {
      if (other.dims == array.dims && choices_.OneIn(3)) value += fmt::format(" + {}[{}]", other.name, indices);
      if (array.dims.size() == 2 && other.dims == std::vector<int>{array.dims[0]} && choices_.OneIn(2))
        value += fmt::format(" - {}[v0]", other.name);
    }
    return {array.dims, {}, value, {}, {}};
  }

  // Padded with a constant, or with neighbours.
  Stage Shifted(const Array& array) {
    const int rows = array.dims[0], columns = array.dims[1];
    if (choices_.OneIn(2) && columns > 2)
      return {
          {rows, columns - 2}, {}, fmt::format("{0}[v0, v1] + {0}[v0, v1 + 1] + {0}[v0, v1 + 2]", array.name), {}, {}};
    return {{rows + 2, columns},
            {},
            fmt::format("T.if_then_else(1 <= v0 and v0 < {}, {}[v0 - 1, v1], {})", rows + 1, array.name, Constant()),
            {},
            {}};
  }

  Stage Reduction(const Array& array) {
    const bool by_rows = choices_.OneIn(2);
    const std::string element = fmt::format("{}[{}]", array.name, by_rows ? "v0, v1" : "v1, v0");
    Stage stage{{array.dims[by_rows ? 0 : 1]}, {array.dims[by_rows ? 1 : 0]}, {}, {}, {}};
    if (choices_.OneIn(3)) {
      stage.init = dtype_ == "int32" ? "T.min_value(\"int32\")" : "T.min_value(\"float32\")";
      stage.combine = fmt::format("T.max({{}}, {})", element);
    } else {
      stage.init = fmt::format("T.{}(0)", dtype_);
      stage.combine = fmt::format("{{}} + {}", element);
    }
    return stage;
  }

  // With its own transpose.
  Stage Product(const Array& array) {
    return {{array.dims[0], array.dims[0]},
            {array.dims[1]},
            {},
            fmt::format("T.{}(0)", dtype_),
            fmt::format("{{}} + {0}[v0, v2] * {0}[v1, v2]", array.name)};
  }

  Choices& choices_;
  std::string dtype_;
  std::vector<Array> arrays_;
  std::string allocations_, body_;
};

}  // namespace

std::string RandomBlocks(Choices& choices) { return BlocksWriter(choices).Write(); }

}  // namespace iropt::generate
