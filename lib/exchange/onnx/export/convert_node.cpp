#include "exchange/onnx/export/convert_node.h"

#include <fmt/format.h>

#include <algorithm>

#include "exchange/onnx/import/op_table.h"
#include "iropt/runtime/value.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

namespace {

// The first version of the operator set that has an operator; 1 stands for all up to 7.
struct FirstVersion {
  std::string_view op;
  int since;
};

// Of operators without a translation; the tables of the others have it.
constexpr FirstVersion kFirstVersions[] = {
    {"AffineGrid", 20},
    {"Attention", 23},
    {"Bernoulli", 15},
    {"BitCast", 26},
    {"BlackmanWindow", 17},
    {"CausalConvWithState", 27},
    {"CenterCropPad", 18},
    {"Col2Im", 18},
    {"Compress", 9},
    {"ConcatFromSequence", 11},
    {"ConvInteger", 10},
    {"CumProd", 26},
    {"DFT", 17},
    {"DeformConv", 19},
    {"Det", 11},
    {"DynamicQuantizeLinear", 11},
    {"GlobalLpPool", 1},
    {"HammingWindow", 17},
    {"HannWindow", 17},
    {"ImageDecoder", 20},
    {"LRN", 1},
    {"LinearAttention", 27},
    {"LpPool", 1},
    {"MatMulInteger", 10},
    {"MaxRoiPool", 1},
    {"MaxUnpool", 9},
    {"MelWeightMatrix", 17},
    {"Multinomial", 1},
    {"NonMaxSuppression", 10},
    {"Optional", 15},
    {"OptionalGetElement", 15},
    {"OptionalHasElement", 15},
    {"QLinearConv", 10},
    {"QLinearMatMul", 10},
    {"RandomNormal", 1},
    {"RandomNormalLike", 1},
    {"RandomUniform", 1},
    {"RandomUniformLike", 1},
    {"RegexFullMatch", 20},
    {"RotaryEmbedding", 23},
    {"Round", 11},
    {"STFT", 17},
    {"SequenceAt", 11},
    {"SequenceConstruct", 11},
    {"SequenceEmpty", 11},
    {"SequenceErase", 11},
    {"SequenceInsert", 11},
    {"SequenceLength", 11},
    {"SequenceMap", 17},
    {"SplitToSequence", 11},
    {"StringConcat", 20},
    {"StringNormalizer", 10},
    {"StringSplit", 20},
    {"SwiGLU", 28},
    {"TensorScatter", 24},
    {"TfIdfVectorizer", 9},
    {"Unique", 11},
};

// Versions from which on an operator computes something else.
constexpr FirstVersion kChanges[] = {
    {"BatchNormalization", 9}, {"BatchNormalization", 14}, {"GridSample", 20}, {"GroupNormalization", 21},
    {"Hardmax", 13},           {"LogSoftmax", 13},         {"Scan", 9},        {"Softmax", 13}};

enum class MovedElements : uint8_t { kInts, kInt, kOneInt, kFloats, kOfData };  // kOneInt: a vector of one

// An attribute that is an input from a version on.
struct Move {
  std::string_view op;
  std::string_view attribute;
  size_t input;
  int since;
  MovedElements elements;
};

constexpr Move kMoves[] = {
    {"Clip", "min", 1, 11, MovedElements::kOfData},
    {"Clip", "max", 2, 11, MovedElements::kOfData},
    {"DFT", "axis", 2, 20, MovedElements::kInt},
    {"Pad", "pads", 1, 11, MovedElements::kInts},
    {"Pad", "value", 2, 11, MovedElements::kOfData},
    {"ReduceL1", "axes", 1, 18, MovedElements::kInts},
    {"ReduceL2", "axes", 1, 18, MovedElements::kInts},
    {"ReduceLogSum", "axes", 1, 18, MovedElements::kInts},
    {"ReduceLogSumExp", "axes", 1, 18, MovedElements::kInts},
    {"ReduceMax", "axes", 1, 18, MovedElements::kInts},
    {"ReduceMean", "axes", 1, 18, MovedElements::kInts},
    {"ReduceMin", "axes", 1, 18, MovedElements::kInts},
    {"ReduceProd", "axes", 1, 18, MovedElements::kInts},
    {"ReduceSum", "axes", 1, 13, MovedElements::kInts},
    {"ReduceSumSquare", "axes", 1, 18, MovedElements::kInts},
    {"Slice", "starts", 1, 10, MovedElements::kInts},
    {"Slice", "ends", 2, 10, MovedElements::kInts},
    {"Slice", "axes", 3, 10, MovedElements::kInts},
    {"Split", "split", 1, 13, MovedElements::kInts},
    {"Squeeze", "axes", 1, 13, MovedElements::kInts},
    {"TopK", "k", 1, 10, MovedElements::kOneInt},
    {"Unsqueeze", "axes", 1, 13, MovedElements::kInts},
    {"Upsample", "scales", 1, 9, MovedElements::kFloats},
};

// An attribute that a version added, with the integer that says the same as none.
struct Addition {
  std::string_view op;
  std::string_view attribute;
  int since;
  int64_t none = -1;
};

constexpr Addition kAdditions[] = {
    {"ArgMax", "select_last_index", 12, 0},
    {"ArgMin", "select_last_index", 12, 0},
    {"Attention", "left_window_size", 25, -1},
    {"Attention", "right_window_size", 25, -1},
    {"AveragePool", "ceil_mode", 10, 0},
    {"AveragePool", "dilations", 19},
    {"Cast", "round_mode", 24},
    {"Cast", "saturate", 19, 1},
    {"CastLike", "round_mode", 24},
    {"CastLike", "saturate", 19, 1},
    {"DepthToSpace", "mode", 11},
    {"DequantizeLinear", "axis", 13, 1},
    {"DequantizeLinear", "block_size", 21, 0},
    {"DequantizeLinear", "output_dtype", 23, 0},
    {"Dropout", "seed", 12},
    {"GRU", "layout", 14, 0},
    {"GatherND", "batch_dims", 12, 0},
    {"LSTM", "layout", 14, 0},
    {"LpPool", "ceil_mode", 18, 0},
    {"LpPool", "dilations", 18},
    {"MaxPool", "ceil_mode", 10, 0},
    {"MaxPool", "dilations", 10},
    {"MaxPool", "storage_order", 8, 0},
    {"QuantizeLinear", "axis", 13, 1},
    {"QuantizeLinear", "block_size", 21, 0},
    {"QuantizeLinear", "output_dtype", 21, 0},
    {"QuantizeLinear", "precision", 23, 0},
    {"QuantizeLinear", "saturate", 19, 1},
    {"RNN", "layout", 14, 0},
    {"Range", "stash_type", 27, 1},
    {"ReduceL1", "noop_with_empty_axes", 18, 0},
    {"ReduceL2", "noop_with_empty_axes", 18, 0},
    {"ReduceLogSum", "noop_with_empty_axes", 18, 0},
    {"ReduceLogSumExp", "noop_with_empty_axes", 18, 0},
    {"ReduceMax", "noop_with_empty_axes", 18, 0},
    {"ReduceMean", "noop_with_empty_axes", 18, 0},
    {"ReduceMin", "noop_with_empty_axes", 18, 0},
    {"ReduceProd", "noop_with_empty_axes", 18, 0},
    {"ReduceSum", "noop_with_empty_axes", 13, 0},
    {"ReduceSumSquare", "noop_with_empty_axes", 18, 0},
    {"Reshape", "allowzero", 14, 0},
    {"Resize", "antialias", 18, 0},
    {"Resize", "axes", 18},
    {"Resize", "coordinate_transformation_mode", 11},
    {"Resize", "cubic_coeff_a", 11},
    {"Resize", "exclude_outside", 11, 0},
    {"Resize", "extrapolation_value", 11},
    {"Resize", "keep_aspect_ratio_policy", 18},
    {"Resize", "nearest_mode", 11},
    {"RoiAlign", "coordinate_transformation_mode", 16},
    {"ScatterElements", "reduction", 16},
    {"ScatterND", "reduction", 16},
    {"Shape", "end", 15},
    {"Shape", "start", 15, 0},
    {"Split", "num_outputs", 18},
    {"TopK", "largest", 11, 1},
    {"TopK", "sorted", 11, 1},
};

// Inputs that a version added; those that were attributes are moves.
struct AddedInput {
  std::string_view op;
  size_t input;
  int since;
};
constexpr AddedInput kAddedInputs[] = {{"Attention", 6, 24}, {"Dropout", 1, 12}, {"Pad", 3, 18}, {"Slice", 4, 10}};

class NodeConverter {
 public:
  NodeConverter(OpExport& op, int64_t from, NodeForm& node) : op_(op), from_(from), to_(op.version()), node_(node) {}

  std::optional<std::string> Run() {
    const int first = FirstVersionOf(node_.op);
    if (first == 0) return from_ > to_ ? std::optional(Needs("it", from_)) : std::nullopt;
    if (first > to_) return Needs("it", first);
    const auto change = std::ranges::find_if(
        kChanges, [&](const FirstVersion& row) { return row.op == node_.op && Crosses(row.since); });
    const bool is_downsized = node_.op == "Resize" && from_ >= 11 && to_ < 11;
    if (is_downsized) return "it computed something else before opset 11 of ONNX";
    if (change != std::end(kChanges))
      return fmt::format("it is of opset {}, and computes something else {} opset {} of ONNX", from_,
                         from_ < to_ ? "from" : "before", change->since);
    for (const Addition& row : kAdditions) {
      if (row.op == node_.op && to_ < row.since && !Drop(row))
        return Needs(fmt::format("attribute '{}'", row.attribute), row.since);
    }
    for (const AddedInput& row : kAddedInputs) {
      const bool has = row.op == node_.op && row.input < node_.inputs.size() && !node_.inputs[row.input].empty();
      if (has && to_ < row.since) return Needs(fmt::format("input {}", row.input), row.since);
    }
    for (const Move& row : kMoves) {
      if (row.op != node_.op || !Crosses(row.since)) continue;
      if (from_ < to_)
        MakeInput(row);
      else if (!MakeAttribute(row))
        return fmt::format("its input {} is not a constant, which it must be before opset {} of ONNX", row.input,
                           row.since);
    }
    Rename();
    if (node_.op == "Resize" && to_ >= 11 && to_ < 13) FillInputs();
    return std::nullopt;
  }

 private:
  bool Crosses(int since) const { return (from_ < since) != (to_ < since); }

  std::string Needs(std::string_view what, int64_t since) const {
    return fmt::format("{} needs opset {} of ONNX, the model has {}", what, since, to_);
  }

  // Removes an attribute that says the same as none. Returns whether it is not there then.
  bool Drop(const Addition& row) {
    const auto found = std::ranges::find(node_.attributes, row.attribute, &AttributeProto::name);
    if (found == node_.attributes.end()) return true;
    if (found->type != AttributeType::kInt || found->i != row.none) return false;
    node_.attributes.erase(found);
    return true;
  }

  void MakeInput(const Move& row) {
    const auto found = std::ranges::find(node_.attributes, row.attribute, &AttributeProto::name);
    const bool is_given = found != node_.attributes.end();
    // The axis of DFT was the second one by default.
    if (!is_given && node_.op != "DFT") return;
    const std::string_view value = is_given ? InputFrom(*found, row.elements) : op_.exporter().IntScalar(1);
    if (is_given) node_.attributes.erase(found);
    node_.inputs.resize(std::max(node_.inputs.size(), row.input + 1));
    node_.inputs[row.input] = value;
  }

  std::string_view InputFrom(const AttributeProto& attribute, MovedElements elements) {
    switch (elements) {
      case MovedElements::kInts: return op_.Ints(attribute.ints);
      case MovedElements::kInt: return op_.exporter().IntScalar(attribute.i);
      case MovedElements::kOneInt: return op_.Ints({attribute.i});
      case MovedElements::kOfData: return op_.Scalar(static_cast<double>(attribute.f), op_.Dtype(1));
      case MovedElements::kFloats: break;
    }
    auto array = NDArray::Make(DataType::Float(32), {static_cast<int64_t>(attribute.floats.size())});
    std::ranges::copy(attribute.floats, array->MutableAs<float>().begin());
    return op_.exporter().context().Initializer(std::shared_ptr<const NDArray>(std::move(array)), "");
  }

  bool MakeAttribute(const Move& row) {
    if (row.input >= node_.inputs.size() || node_.inputs[row.input].empty()) return true;
    const auto* constant = As<iropt::Constant>(op_.Resolved(row.input + 1));
    if (constant == nullptr) return false;
    const NDArray& array = *constant->data;
    const bool is_int = row.elements != MovedElements::kFloats && row.elements != MovedElements::kOfData;
    if (is_int && array.dtype() != DataType::Int(64)) return false;
    if (!is_int && array.dtype() != DataType::Float(32)) return false;
    if (is_int) {
      const auto values = array.As<int64_t>();
      if (row.elements == MovedElements::kInts)
        node_.attributes.push_back(IntsAttribute(row.attribute, {values.begin(), values.end()}));
      else
        node_.attributes.push_back(IntAttribute(row.attribute, values[0]));
    } else if (row.elements == MovedElements::kFloats) {
      const auto values = array.As<float>();
      node_.attributes.push_back(
          {.name = row.attribute, .type = AttributeType::kFloats, .floats = {values.begin(), values.end()}});
    } else {
      node_.attributes.push_back(FloatAttribute(row.attribute, static_cast<double>(array.As<float>()[0])));
    }
    node_.inputs[row.input] = {};
    return true;
  }

  // Operators that have other names.
  void Rename() {
    if (node_.op == "Scatter" && to_ >= 11) node_.op = "ScatterElements";
    const bool is_upsample = node_.op == "Upsample" && to_ >= 10;
    const bool is_old_resize = node_.op == "Resize" && from_ < 11;
    if (is_upsample) node_.op = "Resize";
    if ((!is_upsample && !is_old_resize) || to_ < 11 || node_.inputs.size() != 2) return;
    node_.inputs = {node_.inputs[0], {}, node_.inputs[1]};
    node_.attributes.push_back(TextAttribute("coordinate_transformation_mode", "asymmetric"));
    const auto mode = std::ranges::find(node_.attributes, "mode", &AttributeProto::name);
    if (mode == node_.attributes.end() || mode->s == "nearest")
      node_.attributes.push_back(TextAttribute("nearest_mode", "floor"));
  }

  // Regions and scales of Resize that are left out were empty tensors.
  void FillInputs() {
    for (const size_t i : {size_t{1}, size_t{2}}) {
      if (i < node_.inputs.size() && !node_.inputs[i].empty()) continue;
      node_.inputs.resize(std::max(node_.inputs.size(), i + 1));
      node_.inputs[i] = op_.exporter().context().Initializer(
          std::shared_ptr<const NDArray>(NDArray::Make(DataType::Float(32), {0})), "");
    }
  }

  OpExport& op_;
  const int64_t from_;
  const int64_t to_;
  NodeForm& node_;
};

}  // namespace

int FirstVersionOf(std::string_view op) {
  static const LookupMap<std::string_view, int> versions = [] {
    LookupMap<std::string_view, int> by_op;
    for (const FirstVersion& row : kFirstVersions) by_op.try_emplace(row.op, row.since);
    for (const std::span<const OpRow> family : OpFamilies()) {
      for (const OpRow& row : family) {
        if (!IsOnnxDomain(row.domain)) continue;
        const int since = row.since <= 7 ? 1 : row.since;
        int& first = by_op.try_emplace(row.name, since).first;
        first = std::min(first, since);
      }
    }
    return by_op;
  }();
  return versions.Lookup(op);
}

std::optional<std::string> ConvertNode(OpExport& op, int64_t from, NodeForm& node) {
  if (from <= 0 || from == op.version()) return std::nullopt;
  return NodeConverter(op, from, node).Run();
}

}  // namespace iropt::onnx
