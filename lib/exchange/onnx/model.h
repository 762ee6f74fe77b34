// An ONNX model as its file has it: the messages of onnx.proto as plain structs. Texts and the bytes of tensors are
// views of the mapped file, or of the texts that the model keeps.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iropt/ir/node.h"

namespace iropt::onnx {

// TensorProto.DataType.
enum class ElementType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
  kBfloat16 = 16,
  kFloat8E4M3Fn = 17,
  kFloat8E4M3Fnuz = 18,
  kFloat8E5M2 = 19,
  kFloat8E5M2Fnuz = 20,
  kUint4 = 21,
  kInt4 = 22,
  kFloat4E2M1 = 23,
  kFloat8E8M0 = 24,
  kUint2 = 25,
  kInt2 = 26
};

// The members of AttributeProto that have a value, by AttributeProto.AttributeType.
enum class AttributeType : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kType = 13,
  kTypes = 14
};

// The key and the value of a StringStringEntryProto.
using Property = std::pair<std::string_view, std::string_view>;
using Properties = std::vector<Property>;

struct TensorProto {
  std::string_view name = {};
  std::string_view doc = {};
  std::vector<int64_t> dims = {};
  ElementType type = ElementType::kUndefined;
  // The elements are in one of these. The first three are bytes in the order of the file, little-endian.
  std::optional<std::string_view> raw = {};
  std::string_view floats = {};    // of float_data; complex64 as pairs
  std::string_view doubles = {};   // of double_data; complex128 as pairs
  std::vector<int64_t> ints = {};  // of int32_data, int64_data and uint64_data, by their bits
  std::vector<std::string_view> strings = {};
  bool is_external = false;
  Properties external = {};  // location, offset, length, checksum
  Properties metadata = {};
  Span span = {};  // of the description of an initializer, see node_places.h
};

struct SparseTensorProto {
  TensorProto values = {};
  TensorProto indices = {};
  std::vector<int64_t> dims = {};
};

// A dimension: a number, a name, or neither.
struct Dim {
  std::optional<int64_t> value = {};
  std::string_view param = {};
  std::string_view denotation = {};
};

struct ValueType {
  enum class Kind : uint8_t { kNone, kTensor, kSparseTensor, kSequence, kMap, kOptional, kOpaque };
  Kind kind = Kind::kNone;
  ElementType element = ElementType::kUndefined;  // of tensors; the keys of maps
  bool has_shape = false;                         // of tensors
  std::vector<Dim> dims = {};
  std::vector<ValueType> inner = {};  // one: the element of a sequence or an optional, the value of a map
  std::string_view denotation = {};
};

struct ValueInfo {
  std::string_view name = {};
  ValueType type = {};
  std::string_view doc = {};
  Properties metadata = {};
};

struct GraphProto;

struct AttributeProto {
  std::string_view name = {};
  std::string_view doc = {};
  AttributeType type = AttributeType::kUndefined;
  // In the body of a model-local function: the attribute of its calls whose value this one has.
  std::string_view reference = {};
  float f = 0;
  int64_t i = 0;
  std::string_view s = {};
  std::vector<float> floats = {};
  std::vector<int64_t> ints = {};
  std::vector<std::string_view> strings = {};
  std::vector<TensorProto> tensors = {};  // one for kTensor
  std::vector<SparseTensorProto> sparse_tensors = {};
  std::vector<std::shared_ptr<GraphProto>> graphs = {};  // copies of the attribute share them
  std::vector<ValueType> types = {};
};

struct NodeProto {
  std::string_view name = {};
  std::string_view op_type = {};
  std::string_view domain = {};
  std::string_view overload = {};
  std::string_view doc = {};
  std::vector<std::string_view> inputs = {};  // an empty name: an optional one that is missing
  std::vector<std::string_view> outputs = {};
  std::vector<AttributeProto> attributes = {};
  Properties metadata = {};
  Span span = {};        // of its description, see node_places.h
  bool is_step = false;  // one of several that stand for a call
};

struct QuantizationAnnotation {
  std::string_view tensor = {};
  Properties parameters = {};
};

struct GraphProto {
  std::string_view name = {};
  std::string_view doc = {};
  std::vector<NodeProto> nodes = {};
  std::vector<TensorProto> initializers = {};
  std::vector<SparseTensorProto> sparse_initializers = {};
  std::vector<ValueInfo> inputs = {};
  std::vector<ValueInfo> outputs = {};
  std::vector<ValueInfo> value_infos = {};
  std::vector<QuantizationAnnotation> quantization = {};
  Properties metadata = {};
};

struct OperatorSet {
  std::string_view domain = {};  // "" or "ai.onnx" for ONNX's own
  int64_t version = 0;
};

// A model-local function.
struct FunctionProto {
  std::string_view name = {};
  std::string_view domain = {};
  std::string_view overload = {};
  std::string_view doc = {};
  std::vector<std::string_view> inputs = {};
  std::vector<std::string_view> outputs = {};
  std::vector<std::string_view> attributes = {};  // without defaults
  std::vector<AttributeProto> defaults = {};
  std::vector<NodeProto> nodes = {};
  std::vector<OperatorSet> opsets = {};
  std::vector<ValueInfo> value_infos = {};
  Properties metadata = {};
};

struct Model {
  int64_t ir_version = 0;
  int64_t model_version = 0;
  std::string_view producer_name = {};
  std::string_view producer_version = {};
  std::string_view domain = {};
  std::string_view doc = {};
  GraphProto graph = {};
  std::vector<OperatorSet> opsets = {};
  std::vector<FunctionProto> functions = {};
  Properties metadata = {};
  bool has_training = false;

  // The version of the operators of a domain; 0 if the model does not import it.
  int64_t OpsetOf(std::string_view op_domain) const;
  // Keeps a text that is not in the file.
  std::string_view Keep(std::string text) { return texts.emplace_back(std::move(text)); }

  std::deque<std::string> texts;
};

// All nodes but constants, also those of graphs that are attributes.
size_t CountNodes(const GraphProto& graph);

// Returns whether a node has a graph.
bool HasInnerGraphs(const GraphProto& graph);

// Returns whether a domain is that of ONNX's own operators.
inline bool IsOnnxDomain(std::string_view domain) { return domain.empty() || domain == "ai.onnx"; }
int64_t OpsetIn(const std::vector<OperatorSet>& opsets, std::string_view domain);

}  // namespace iropt::onnx
