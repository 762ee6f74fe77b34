// Recurrent networks, strings, sequences, optional values and classical models.

#include <algorithm>

#include "exchange/onnx/types/type_rules.h"

namespace iropt::onnx {

namespace {

Dims TfIdfDims(OpImport& op, size_t /*output*/) {
  Dims dims = DimsIn(op, 0);
  const std::vector<int64_t> indexes = op.Ints("ngram_indexes");
  if (!dims || dims->empty() || dims->size() > 2 || indexes.empty()) return std::nullopt;
  dims->back() = WholeDim(*std::ranges::max_element(indexes) + 1);
  return dims;
}

// The first dimension, as that of examples.
const PrimExpr* ExamplesOf(OpImport& op) {
  const Dims dims = DimsIn(op, 0);
  if (!dims || dims->empty()) return nullptr;
  return dims->size() == 1 ? WholeDim(1) : dims->front();
}

Dims ExampleDims(OpImport& op, size_t /*output*/) { return std::vector{ExamplesOf(op)}; }
Dims ScoreDims(OpImport& op, size_t /*output*/) { return std::vector<const PrimExpr*>{ExamplesOf(op), nullptr}; }
Dims TargetDims(OpImport& op, size_t /*output*/) {
  return std::vector{ExamplesOf(op), op.FindAttr("n_targets") ? WholeDim(op.Int("n_targets"))
                                     : op.FindAttr("targets") ? WholeDim(op.Int("targets", 1))
                                                              : nullptr};
}

DataType ClassDtype(OpImport& op, size_t /*output*/) {
  for (const std::string_view name : {"classlabels_strings", "classlabels_string"}) {
    const AttributeProto* labels = op.FindAttr(name);
    if (labels != nullptr && !labels->strings.empty()) return DataType::Handle();
  }
  return DataType::Int(64);
}

// The types of Y, Y_h and Y_c from the input [steps, batch, size] or, with layout 1, [batch, steps, size].
Dims RecurrentDims(OpImport& op, size_t output) {
  const Dims x = DimsIn(op, 0);
  const bool known = x && x->size() == 3;
  const bool batch_first = op.Int("layout") != 0;
  const PrimExpr* steps = known ? (*x)[batch_first ? 1 : 0] : nullptr;
  const PrimExpr* batch = known ? (*x)[batch_first ? 0 : 1] : nullptr;
  const PrimExpr* directions = WholeDim(op.String("direction") == "bidirectional" ? 2 : 1);
  const int64_t size = op.Int("hidden_size");
  const PrimExpr* hidden = size > 0 ? WholeDim(size) : nullptr;
  if (output > 0) return batch_first ? std::vector{batch, directions, hidden} : std::vector{directions, batch, hidden};
  return batch_first ? std::vector{batch, steps, directions, hidden} : std::vector{steps, directions, batch, hidden};
}

// Conditionals give inputs of which nothing is known.
DataType RecurrentDtype(OpImport& op, size_t output) {
  const DataType dtype = Of<0>(op, output);
  return dtype.is_void() || dtype.is_handle() ? Of<1>(op, output) : dtype;
}

// Texts become numbers, and numbers texts.
DataType CategoryDtype(OpImport& op, size_t /*output*/) {
  return op.TypeOf(0) ? DataType::Handle() : DataType::Int(64);
}

// A dimension for the categories after those of the data.
Dims CategoryDims(OpImport& op, size_t /*output*/) {
  Dims dims = op.TypeOf(0) ? DimsIn(op, 0) : std::nullopt;
  const AttributeProto* texts = op.FindAttr("cats_strings");
  const size_t count = texts ? texts->strings.size() : op.Ints("cats_int64s").size();
  if (dims) dims->push_back(WholeDim(static_cast<int64_t>(count)));
  return dims;
}

constexpr TypeRow kSequenceTypes[] = {
    {"GRU LSTM RNN", 0, RecurrentDtype, RecurrentDims},
    {"com.microsoft.DynamicQuantizeLSTM", 0, Of<0>, RecurrentDims},
    {"SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceMap SplitToSequence Optional", 0, kNoNumbers,
     AnyRank},
    {"StringNormalizer ai.onnx.ml.ZipMap ai.onnx.ml.CastMap ai.onnx.ml.DictVectorizer", 0, kNoNumbers, AnyRank},
    {"StringSplit", 0, kNoNumbers, AnyRank},
    {"StringSplit", 1, kLongs, Like<0>},
    {"ConcatFromSequence OptionalGetElement SequenceAt ai.onnx.preview.training.Gradient", 0, kUnknown, AnyRank},
    {"SequenceLength", 0, kLongs, Rank<0>},
    {"OptionalHasElement", 0, kBools, Rank<0>},
    {"TfIdfVectorizer", 0, kFloats, TfIdfDims},
    {"ai.onnx.ml.LinearClassifier ai.onnx.ml.SVMClassifier ai.onnx.ml.TreeEnsembleClassifier", 0, ClassDtype,
     ExampleDims},
    {"ai.onnx.ml.LinearClassifier ai.onnx.ml.SVMClassifier ai.onnx.ml.TreeEnsembleClassifier", 1, kFloats, ScoreDims},
    {"ai.onnx.ml.LinearRegressor ai.onnx.ml.TreeEnsembleRegressor", 0, kFloats, TargetDims},
    {"ai.onnx.ml.TreeEnsemble", 0, Of<0>, TargetDims},
    {"ai.onnx.ml.CategoryMapper", 0, CategoryDtype, AnyRank},
    {"ai.onnx.ml.OneHotEncoder", 0, kFloats, CategoryDims},
    {"ai.onnx.ml.SVMRegressor ai.onnx.ml.FeatureVectorizer", 0, kFloats, ScoreDims},
};

}  // namespace

std::span<const TypeRow> SequenceTypeRows() { return kSequenceTypes; }

}  // namespace iropt::onnx
