#include "exchange/onnx/types/node_types.h"

#include <string>
#include <unordered_map>

#include "exchange/onnx/node_places.h"
#include "exchange/onnx/types/type_rules.h"

namespace iropt::onnx {

DataType DtypeIn(OpImport& op, std::string_view attribute, DataType fallback) {
  const AttributeProto* found = op.FindAttr(attribute);
  if (found == nullptr || found->i == 0) return fallback;
  const auto type = static_cast<ElementType>(found->i);
  if (type == ElementType::kString) return DataType::Handle();
  return DataTypeOf(type).value_or(DataType::Void());
}

namespace {

using TypeRowsByOp = std::unordered_map<std::string_view, std::vector<const TypeRow*>>;

void AddTypeRow(const TypeRow& row, TypeRowsByOp& rows) {
  std::string_view rest = row.ops;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    rows[rest.substr(0, end)].push_back(&row);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

const TypeRowsByOp& TypeRows() {
  static const TypeRowsByOp rows = [] {
    TypeRowsByOp by_op;
    for (const std::span<const TypeRow> family :
         {ElementTypeRows(), ShapeTypeRows(), WindowTypeRows(), SequenceTypeRows(), TransformerTypeRows()}) {
      for (const TypeRow& row : family) AddTypeRow(row, by_op);
    }
    return by_op;
  }();
  return rows;
}

// Null if there is none.
const TypeRow* FindTypeRow(const std::vector<const TypeRow*>& rows, size_t output) {
  const TypeRow* best = nullptr;
  for (const TypeRow* row : rows) {
    if (row->output <= output && (best == nullptr || best->output < row->output)) best = row;
  }
  return best;
}

// No tensor has a negative dimension: what gives one is left to the run.
void ForgetNegative(Dims& dims) {
  if (!dims) return;
  for (const PrimExpr*& dim : *dims) {
    if (NumberOfDim(dim).value_or(0) < 0) dim = nullptr;
  }
}

}  // namespace

std::vector<NodeType> TypesOfNode(OpImport& op) {
  std::vector<NodeType> types(op.num_outputs());
  const auto found = TypeRows().find(QualifiedOp(op.node()));
  if (found == TypeRows().end()) return types;
  for (size_t i = 0; i < types.size(); ++i) {
    const TypeRow* row = op.HasOutput(i) ? FindTypeRow(found->second, i) : nullptr;
    if (row == nullptr) continue;
    types[i] = {row->dtype(op, i), row->dims(op, i)};
    ForgetNegative(types[i].dims);
  }
  return types;
}

}  // namespace iropt::onnx
