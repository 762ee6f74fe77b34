#include "exchange/onnx/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <protozero/exception.hpp>

#include "exchange/onnx/wire_reader.h"

namespace iropt::onnx {

int64_t OpsetIn(const std::vector<OperatorSet>& opsets, std::string_view domain) {
  for (const OperatorSet& set : opsets) {
    if (set.domain == domain || (IsOnnxDomain(set.domain) && IsOnnxDomain(domain))) return set.version;
  }
  return 0;
}

size_t CountNodes(const GraphProto& graph) {
  size_t count = 0;
  for (const NodeProto& node : graph.nodes) {
    if (node.op_type != "Constant") ++count;
    for (const AttributeProto& attribute : node.attributes) {
      for (const auto& inner : attribute.graphs) count += CountNodes(*inner);
    }
  }
  return count;
}

bool HasInnerGraphs(const GraphProto& graph) {
  return std::ranges::any_of(graph.nodes, [](const NodeProto& node) {
    return std::ranges::any_of(node.attributes, [](const AttributeProto& a) { return !a.graphs.empty(); });
  });
}

int64_t Model::OpsetOf(std::string_view op_domain) const { return OpsetIn(opsets, op_domain); }

namespace {

class Decoder {
 public:
  explicit Decoder(Model& model) : model_(model) {}

  void DecodeModelMessage(WireReader& in);
  void DecodeTensorMessage(WireReader& in, TensorProto& tensor);

 private:
  void Decode(WireReader& in, Property& property);
  void Decode(WireReader& in, SparseTensorProto& tensor);
  void Decode(WireReader& in, Dim& dim);
  void DecodeShape(WireReader& in, ValueType& type);
  void Decode(WireReader& in, ValueType& type);
  void DecodeInner(WireReader& in, ValueType& type, ValueType::Kind kind);
  void Decode(WireReader& in, ValueInfo& value);
  void Decode(WireReader& in, AttributeProto& attribute);
  void Decode(WireReader& in, NodeProto& node);
  void Decode(WireReader& in, QuantizationAnnotation& annotation);
  void Decode(WireReader& in, GraphProto& graph);
  void Decode(WireReader& in, OperatorSet& set);
  void Decode(WireReader& in, FunctionProto& function);
  void Decode(WireReader& in, TensorProto& tensor) { DecodeTensorMessage(in, tensor); }

  // Reads one more message of a repeated field.
  template <class T>
  void Add(WireReader& in, std::string_view part, std::vector<T>& list) {
    T& item = list.emplace_back();
    in.Message(part, list.size() - 1, [&](WireReader& inner) { Decode(inner, item); });
  }

  Model& model_;
};

void Decoder::Decode(WireReader& in, Property& property) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: property.first = in.Bytes(); break;
      case 2: property.second = in.Bytes(); break;
      default: in.Skip();
    }
  }
}

void Decoder::DecodeTensorMessage(WireReader& in, TensorProto& tensor) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: in.Ints(tensor.dims); break;
      case 2: tensor.type = static_cast<ElementType>(in.Int()); break;
      case 4: in.Fixed(tensor.floats, sizeof(float), model_); break;
      case 5:
      case 7:
      case 11: in.Ints(tensor.ints); break;
      case 6: tensor.strings.push_back(in.Bytes()); break;
      case 8:
        tensor.name = in.Bytes();
        in.place().Name(tensor.name);
        break;
      case 9: tensor.raw = in.Bytes(); break;
      case 10: in.Fixed(tensor.doubles, sizeof(double), model_); break;
      case 12: tensor.doc = in.Bytes(); break;
      case 13: Add(in, "external data", tensor.external); break;
      case 14: tensor.is_external = in.Int() == 1; break;
      case 16: Add(in, "metadata", tensor.metadata); break;
      default: in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, SparseTensorProto& tensor) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: in.Message("values", [&](WireReader& inner) { Decode(inner, tensor.values); }); break;
      case 2: in.Message("indices", [&](WireReader& inner) { Decode(inner, tensor.indices); }); break;
      case 3: in.Ints(tensor.dims); break;
      default: in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, Dim& dim) {
  while (in.Next()) {
    switch (in.field()) {
      case 1:
        // Exporters write a size that they do not know as -1.
        if (const int64_t value = in.Int(); value >= 0) dim.value = value;
        break;
      case 2: dim.param = in.Bytes(); break;
      case 3: dim.denotation = in.Bytes(); break;
      default: in.Skip();
    }
  }
}

void Decoder::DecodeShape(WireReader& in, ValueType& type) {
  type.has_shape = true;
  while (in.Next()) {
    if (in.field() == 1)
      Add(in, "dimension", type.dims);
    else
      in.Skip();
  }
}

void Decoder::DecodeInner(WireReader& in, ValueType& type, ValueType::Kind kind) {
  type.kind = kind;
  const bool is_tensor = kind == ValueType::Kind::kTensor || kind == ValueType::Kind::kSparseTensor;
  const uint32_t inner_field = kind == ValueType::Kind::kMap ? 2 : 1;
  while (in.Next()) {
    if (is_tensor && in.field() == 2) {
      in.Message("shape", [&](WireReader& inner) { DecodeShape(inner, type); });
    } else if ((is_tensor || kind == ValueType::Kind::kMap) && in.field() == 1) {
      type.element = static_cast<ElementType>(in.Int());
    } else if (!is_tensor && kind != ValueType::Kind::kOpaque && in.field() == inner_field) {
      Add(in, "element type", type.inner);
    } else {
      in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, ValueType& type) {
  const auto inner = [&](ValueType::Kind kind) {
    in.Message("type", [&](WireReader& message) { DecodeInner(message, type, kind); });
  };
  while (in.Next()) {
    switch (in.field()) {
      case 1: inner(ValueType::Kind::kTensor); break;
      case 4: inner(ValueType::Kind::kSequence); break;
      case 5: inner(ValueType::Kind::kMap); break;
      case 6: type.denotation = in.Bytes(); break;
      case 7: inner(ValueType::Kind::kOpaque); break;
      case 8: inner(ValueType::Kind::kSparseTensor); break;
      case 9: inner(ValueType::Kind::kOptional); break;
      default: in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, ValueInfo& value) {
  while (in.Next()) {
    switch (in.field()) {
      case 1:
        value.name = in.Bytes();
        in.place().Name(value.name);
        break;
      case 2: in.Message("type", [&](WireReader& inner) { Decode(inner, value.type); }); break;
      case 3: value.doc = in.Bytes(); break;
      case 4: Add(in, "metadata", value.metadata); break;
      default: in.Skip();
    }
  }
}

// Files of the first IR versions do not say which member has the value.
AttributeType TypeByValue(const AttributeProto& attribute, uint32_t last_scalar_field) {
  if (!attribute.tensors.empty()) return AttributeType::kTensor;
  if (!attribute.graphs.empty()) return AttributeType::kGraph;
  if (!attribute.floats.empty()) return AttributeType::kFloats;
  if (!attribute.ints.empty()) return AttributeType::kInts;
  if (!attribute.strings.empty()) return AttributeType::kStrings;
  switch (last_scalar_field) {
    case 2: return AttributeType::kFloat;
    case 3: return AttributeType::kInt;
    case 4: return AttributeType::kString;
    default: return AttributeType::kUndefined;
  }
}

void Decoder::Decode(WireReader& in, AttributeProto& attribute) {
  uint32_t last_scalar_field = 0;
  const auto add_graph = [&] {
    GraphProto& graph = *attribute.graphs.emplace_back(std::make_shared<GraphProto>());
    in.Message("graph", [&](WireReader& inner) { Decode(inner, graph); });
  };
  while (in.Next()) {
    if (in.field() >= 2 && in.field() <= 4) last_scalar_field = in.field();
    switch (in.field()) {
      case 1:
        attribute.name = in.Bytes();
        in.place().Name(attribute.name);
        break;
      case 2: attribute.f = in.Float(); break;
      case 3: attribute.i = in.Int(); break;
      case 4: attribute.s = in.Bytes(); break;
      case 5:
      case 10: Add(in, "tensor", attribute.tensors); break;
      case 6:
      case 11: add_graph(); break;
      case 7: in.Floats(attribute.floats); break;
      case 8: in.Ints(attribute.ints); break;
      case 9: attribute.strings.push_back(in.Bytes()); break;
      case 13: attribute.doc = in.Bytes(); break;
      case 14:
      case 15: Add(in, "type", attribute.types); break;
      case 20: attribute.type = static_cast<AttributeType>(in.Int()); break;
      case 21: attribute.reference = in.Bytes(); break;
      case 22:
      case 23: Add(in, "sparse tensor", attribute.sparse_tensors); break;
      default: in.Skip();
    }
  }
  if (attribute.type == AttributeType::kUndefined) attribute.type = TypeByValue(attribute, last_scalar_field);
}

void Decoder::Decode(WireReader& in, NodeProto& node) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: node.inputs.push_back(in.Bytes()); break;
      case 2: node.outputs.push_back(in.Bytes()); break;
      case 3:
        node.name = in.Bytes();
        in.place().Name(node.name);
        break;
      case 4: node.op_type = in.Bytes(); break;
      case 5: Add(in, "attribute", node.attributes); break;
      case 6: node.doc = in.Bytes(); break;
      case 7: node.domain = in.Bytes(); break;
      case 8: node.overload = in.Bytes(); break;
      case 9: Add(in, "metadata", node.metadata); break;
      default: in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, QuantizationAnnotation& annotation) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: annotation.tensor = in.Bytes(); break;
      case 2: Add(in, "parameter", annotation.parameters); break;
      default: in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, GraphProto& graph) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: Add(in, "node", graph.nodes); break;
      case 2:
        graph.name = in.Bytes();
        in.place().Name(graph.name);
        break;
      case 5: Add(in, "initializer", graph.initializers); break;
      case 10: graph.doc = in.Bytes(); break;
      case 11: Add(in, "input", graph.inputs); break;
      case 12: Add(in, "output", graph.outputs); break;
      case 13: Add(in, "value", graph.value_infos); break;
      case 14: Add(in, "quantization annotation", graph.quantization); break;
      case 15: Add(in, "sparse initializer", graph.sparse_initializers); break;
      case 16: Add(in, "metadata", graph.metadata); break;
      default: in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, OperatorSet& set) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: set.domain = in.Bytes(); break;
      case 2: set.version = in.Int(); break;
      default: in.Skip();
    }
  }
}

void Decoder::Decode(WireReader& in, FunctionProto& function) {
  while (in.Next()) {
    switch (in.field()) {
      case 1:
        function.name = in.Bytes();
        in.place().Name(function.name);
        break;
      case 4: function.inputs.push_back(in.Bytes()); break;
      case 5: function.outputs.push_back(in.Bytes()); break;
      case 6: function.attributes.push_back(in.Bytes()); break;
      case 7: Add(in, "node", function.nodes); break;
      case 8: function.doc = in.Bytes(); break;
      case 9: Add(in, "operator set", function.opsets); break;
      case 10: function.domain = in.Bytes(); break;
      case 11: Add(in, "attribute", function.defaults); break;
      case 12: Add(in, "value", function.value_infos); break;
      case 13: function.overload = in.Bytes(); break;
      case 14: Add(in, "metadata", function.metadata); break;
      default: in.Skip();
    }
  }
}

void Decoder::DecodeModelMessage(WireReader& in) {
  while (in.Next()) {
    switch (in.field()) {
      case 1: model_.ir_version = in.Int(); break;
      case 2: model_.producer_name = in.Bytes(); break;
      case 3: model_.producer_version = in.Bytes(); break;
      case 4: model_.domain = in.Bytes(); break;
      case 5: model_.model_version = in.Int(); break;
      case 6: model_.doc = in.Bytes(); break;
      case 7: in.Message("graph", [&](WireReader& inner) { Decode(inner, model_.graph); }); break;
      case 8: Add(in, "operator set", model_.opsets); break;
      case 14: Add(in, "metadata", model_.metadata); break;
      case 20:
        model_.has_training = true;
        in.Skip();
        break;
      case 25: Add(in, "function", model_.functions); break;
      default: in.Skip();
    }
  }
}

// Runs a decoder whose exceptions become errors with their place.
template <class F>
Status DecodeAt(Place& place, F&& decode) {
  std::string reason;
  try {
    decode();
    return {};
  } catch (const BadMessage& bad) {
    reason = bad.reason;
  } catch (const protozero::end_of_buffer_exception&) {
    reason = "the file ends within a field";
  } catch (const protozero::exception& error) {
    reason = error.what();
  }
  const std::string where = place.ToString();
  return Error{ErrorCode::Parse, fmt::format("not an ONNX model: {}{}{}", reason, where.empty() ? "" : ", in ", where)};
}

}  // namespace

Result<Model> DecodeModel(std::string_view bytes) {
  Model model;
  Place place;
  WireReader in(bytes, place);
  IROPT_RETURN_IF_ERROR(DecodeAt(place, [&] { Decoder(model).DecodeModelMessage(in); }));
  if (model.graph.nodes.empty() && model.graph.outputs.empty() && model.ir_version == 0)
    return Error{ErrorCode::Parse, "not an ONNX model: there is no graph"};
  return model;
}

}  // namespace iropt::onnx
