#include "exchange/onnx/encode.h"

#include <algorithm>
#include <concepts>
#include <iterator>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

namespace iropt::onnx {

namespace {

using Writer = protozero::pbf_writer;

void EncodeFields(Writer& out, const AttributeProto& attribute);
void EncodeFields(Writer& out, const Dim& dim);
void EncodeFields(Writer& out, const GraphProto& graph);
void EncodeFields(Writer& out, const NodeProto& node);
void EncodeFields(Writer& out, const OperatorSet& set);
void EncodeFields(Writer& out, const Property& property);
void EncodeFields(Writer& out, const QuantizationAnnotation& annotation);
void EncodeFields(Writer& out, const SparseTensorProto& tensor);
void EncodeFields(Writer& out, const TensorProto& tensor);
void EncodeFields(Writer& out, const ValueInfo& value);
void EncodeFields(Writer& out, const ValueType& type);

void AddText(Writer& out, uint32_t field, std::string_view text) {
  if (!text.empty()) out.add_string(field, text.data(), text.size());
}

void AddInt(Writer& out, uint32_t field, int64_t value) {
  if (value != 0) out.add_int64(field, value);
}

void EncodeFields(Writer& out, const Property& property) {
  out.add_string(1, property.first.data(), property.first.size());
  out.add_string(2, property.second.data(), property.second.size());
}

template <class T>
void AddMessage(Writer& out, uint32_t field, const T& message) {
  Writer inner(out, field);
  EncodeFields(inner, message);
}

// A nested writer drops messages without fields, which these may be: they are put together apart.
template <class T>
requires(std::same_as<T, Dim> || std::same_as<T, ValueType>) void AddMessage(Writer& out, uint32_t field,
                                                                             const T& message) {
  std::string bytes;
  Writer inner(bytes);
  EncodeFields(inner, message);
  out.add_message(field, bytes);
}

template <class T>
void AddMessages(Writer& out, uint32_t field, const std::vector<T>& messages) {
  for (const T& message : messages) AddMessage(out, field, message);
}

// ---- Tensors

constexpr uint32_t kRawField = 9;

// All but the raw bytes.
void EncodeHead(Writer& out, const TensorProto& tensor) {
  out.add_packed_int64(1, tensor.dims.begin(), tensor.dims.end());
  out.add_int32(2, static_cast<int32_t>(tensor.type));
  if (!tensor.floats.empty()) out.add_bytes(4, tensor.floats.data(), tensor.floats.size());
  const bool in_int32 =
      tensor.type != ElementType::kInt64 && tensor.type != ElementType::kUint32 && tensor.type != ElementType::kUint64;
  const uint32_t ints = in_int32 ? 5 : tensor.type == ElementType::kInt64 ? 7 : 11;
  out.add_packed_int64(ints, tensor.ints.begin(), tensor.ints.end());
  for (const std::string_view text : tensor.strings) out.add_bytes(6, text.data(), text.size());
  AddText(out, 8, tensor.name);
  if (!tensor.doubles.empty()) out.add_bytes(10, tensor.doubles.data(), tensor.doubles.size());
  AddText(out, 12, tensor.doc);
  AddMessages(out, 13, tensor.external);
  if (tensor.is_external) out.add_enum(14, 1);
  AddMessages(out, 16, tensor.metadata);
}

void EncodeFields(Writer& out, const TensorProto& tensor) {
  EncodeHead(out, tensor);
  if (tensor.raw) out.add_bytes(kRawField, tensor.raw->data(), tensor.raw->size());
}

void EncodeFields(Writer& out, const SparseTensorProto& tensor) {
  AddMessage(out, 1, tensor.values);
  AddMessage(out, 2, tensor.indices);
  out.add_packed_int64(3, tensor.dims.begin(), tensor.dims.end());
}

// ---- Types

void EncodeFields(Writer& out, const Dim& dim) {
  if (dim.value) out.add_int64(1, *dim.value);
  AddText(out, 2, dim.param);
  AddText(out, 3, dim.denotation);
}

void EncodeTensorType(Writer& out, const ValueType& type) {
  out.add_int32(1, static_cast<int32_t>(type.element));
  if (!type.has_shape) return;
  std::string bytes;
  Writer shape(bytes);
  AddMessages(shape, 1, type.dims);
  out.add_message(2, bytes);  // a shape of no dimensions is one, too
}

void EncodeFields(Writer& out, const ValueType& type) {
  using Kind = ValueType::Kind;
  constexpr std::pair<Kind, uint32_t> kFields[] = {{Kind::kTensor, 1}, {Kind::kSequence, 4},     {Kind::kMap, 5},
                                                   {Kind::kOpaque, 7}, {Kind::kSparseTensor, 8}, {Kind::kOptional, 9}};
  for (const auto& [kind, field] : kFields) {
    if (kind != type.kind) continue;
    Writer inner(out, field);
    if (kind == Kind::kTensor || kind == Kind::kSparseTensor) {
      EncodeTensorType(inner, type);
    } else if (kind == Kind::kMap) {
      inner.add_int32(1, static_cast<int32_t>(type.element));
      AddMessages(inner, 2, type.inner);
    } else {
      AddMessages(inner, 1, type.inner);
    }
  }
  AddText(out, 6, type.denotation);
}

void EncodeFields(Writer& out, const ValueInfo& value) {
  AddText(out, 1, value.name);
  if (value.type.kind != ValueType::Kind::kNone) AddMessage(out, 2, value.type);
  AddText(out, 3, value.doc);
  AddMessages(out, 4, value.metadata);
}

// ---- Nodes

void EncodeFields(Writer& out, const AttributeProto& attribute) {
  AddText(out, 1, attribute.name);
  switch (attribute.type) {
    case AttributeType::kFloat: out.add_float(2, attribute.f); break;
    case AttributeType::kInt: out.add_int64(3, attribute.i); break;
    case AttributeType::kString: out.add_bytes(4, attribute.s.data(), attribute.s.size()); break;
    case AttributeType::kTensor: AddMessages(out, 5, attribute.tensors); break;
    case AttributeType::kTensors: AddMessages(out, 10, attribute.tensors); break;
    case AttributeType::kSparseTensor: AddMessages(out, 22, attribute.sparse_tensors); break;
    case AttributeType::kSparseTensors: AddMessages(out, 23, attribute.sparse_tensors); break;
    case AttributeType::kType: AddMessages(out, 14, attribute.types); break;
    case AttributeType::kTypes: AddMessages(out, 15, attribute.types); break;
    case AttributeType::kGraph:
    case AttributeType::kGraphs:
      for (const auto& graph : attribute.graphs)
        AddMessage(out, attribute.type == AttributeType::kGraph ? 6 : 11, *graph);
      break;
    // Readers that take these lists unpacked take them packed as well.
    case AttributeType::kFloats:
      for (const float value : attribute.floats) out.add_float(7, value);
      break;
    case AttributeType::kInts:
      for (const int64_t value : attribute.ints) out.add_int64(8, value);
      break;
    case AttributeType::kStrings:
      for (const std::string_view text : attribute.strings) out.add_bytes(9, text.data(), text.size());
      break;
    case AttributeType::kUndefined: break;
  }
  AddText(out, 13, attribute.doc);
  out.add_enum(20, static_cast<int32_t>(attribute.type));
  AddText(out, 21, attribute.reference);
}

void EncodeFields(Writer& out, const NodeProto& node) {
  for (const std::string_view input : node.inputs) out.add_string(1, input.data(), input.size());
  for (const std::string_view output : node.outputs) out.add_string(2, output.data(), output.size());
  AddText(out, 3, node.name);
  AddText(out, 4, node.op_type);
  AddMessages(out, 5, node.attributes);
  AddText(out, 6, node.doc);
  AddText(out, 7, node.domain);
  AddText(out, 8, node.overload);
  AddMessages(out, 9, node.metadata);
}

void EncodeFields(Writer& out, const QuantizationAnnotation& annotation) {
  AddText(out, 1, annotation.tensor);
  AddMessages(out, 2, annotation.parameters);
}

// ---- Graphs

void EncodeBeforeTensors(Writer& out, const GraphProto& graph) {
  AddMessages(out, 1, graph.nodes);
  AddText(out, 2, graph.name);
}

void EncodeAfterTensors(Writer& out, const GraphProto& graph) {
  AddText(out, 10, graph.doc);
  AddMessages(out, 11, graph.inputs);
  AddMessages(out, 12, graph.outputs);
  AddMessages(out, 13, graph.value_infos);
  AddMessages(out, 14, graph.quantization);
  AddMessages(out, 15, graph.sparse_initializers);
  AddMessages(out, 16, graph.metadata);
}

void EncodeFields(Writer& out, const GraphProto& graph) {
  EncodeBeforeTensors(out, graph);
  AddMessages(out, 5, graph.initializers);
  EncodeAfterTensors(out, graph);
}

void EncodeFields(Writer& out, const OperatorSet& set) {
  AddText(out, 1, set.domain);
  out.add_int64(2, set.version);
}

void EncodeBeforeGraph(Writer& out, const Model& model) {
  AddInt(out, 1, model.ir_version);
  AddText(out, 2, model.producer_name);
  AddText(out, 3, model.producer_version);
  AddText(out, 4, model.domain);
  AddInt(out, 5, model.model_version);
  AddText(out, 6, model.doc);
}

void EncodeAfterGraph(Writer& out, const Model& model) {
  AddMessages(out, 8, model.opsets);
  AddMessages(out, 14, model.metadata);
}

// ---- The file

// The file as parts that follow one another: bytes made here, and views of bytes elsewhere.
struct Part {
  std::string made;
  std::string_view view;
};

template <class F>
std::string Encode(F&& encode) {
  std::string bytes;
  Writer out(bytes);
  encode(out);
  return bytes;
}

// The tag and the length of a field of bytes.
std::string FieldHead(uint32_t field, uint64_t length) {
  std::string bytes;
  protozero::add_varint_to_buffer(
      &bytes, uint64_t{field} << 3U | static_cast<uint64_t>(protozero::pbf_wire_type::length_delimited));
  protozero::add_varint_to_buffer(&bytes, length);
  return bytes;
}

uint64_t SizeOf(const std::vector<Part>& parts) {
  uint64_t size = 0;
  for (const Part& part : parts) size += part.made.size() + part.view.size();
  return size;
}

void AddInitializer(const TensorProto& tensor, std::vector<Part>& parts) {
  std::string head = Encode([&](Writer& out) { EncodeHead(out, tensor); });
  if (tensor.raw) head += FieldHead(kRawField, tensor.raw->size());
  const std::string_view raw = tensor.raw.value_or(std::string_view());
  parts.push_back({FieldHead(5, head.size() + raw.size()) + head, raw});
}

std::vector<Part> PartsOf(const Model& model) {
  std::vector<Part> graph;
  graph.push_back({Encode([&](Writer& out) { EncodeBeforeTensors(out, model.graph); }), {}});
  for (const TensorProto& tensor : model.graph.initializers) AddInitializer(tensor, graph);
  graph.push_back({Encode([&](Writer& out) { EncodeAfterTensors(out, model.graph); }), {}});
  std::vector<Part> parts;
  parts.push_back({Encode([&](Writer& out) { EncodeBeforeGraph(out, model); }) + FieldHead(7, SizeOf(graph)), {}});
  std::ranges::move(graph, std::back_inserter(parts));
  parts.push_back({Encode([&](Writer& out) { EncodeAfterGraph(out, model); }), {}});
  return parts;
}

}  // namespace

void EncodeModel(const Model& model, OutputStream& out, FunctionRef<void(size_t)> written) {
  // The initializers are after the head of the model and that of the graph.
  constexpr size_t kFirst = 2;
  const std::vector<Part> parts = PartsOf(model);
  for (size_t i = 0; i < parts.size(); ++i) {
    out.Append(parts[i].made);
    out.Append(parts[i].view);
    if (i >= kFirst && i - kFirst < model.graph.initializers.size()) written(i - kFirst);
  }
}

uint64_t EncodedSize(const Model& model) { return SizeOf(PartsOf(model)); }

uint64_t SizeOfInfos(std::span<const ValueInfo> infos) {
  Model model;
  const uint64_t empty = EncodedSize(model);
  model.graph.value_infos.assign(infos.begin(), infos.end());
  return EncodedSize(model) - empty;
}

uint64_t SizeOfInfos(const GraphProto& graph) {
  uint64_t size = SizeOfInfos(graph.value_infos);
  for (const NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) size += SizeOfInfos(*inner);
    }
  }
  return size;
}

uint64_t SizeOfShape(const ValueInfo& value) {
  ValueInfo info{.type = value.type};
  const uint64_t size = SizeOfInfos(std::span(&info, 1));
  info.type.has_shape = false;
  return size - SizeOfInfos(std::span(&info, 1));
}

uint64_t SizeOfShapes(const GraphProto& graph) {
  uint64_t size = 0;
  for (const ValueInfo& input : graph.inputs) size += SizeOfShape(input);
  for (const ValueInfo& output : graph.outputs) size += SizeOfShape(output);
  for (const NodeProto& node : graph.nodes) {
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) size += SizeOfShapes(*inner);
    }
  }
  return size;
}

}  // namespace iropt::onnx
