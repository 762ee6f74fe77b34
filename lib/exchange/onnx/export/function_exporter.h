// Makes a graph of one Relax function.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "exchange/onnx/export/dim_values.h"
#include "exchange/onnx/export/export_context.h"
#include "exchange/onnx/export/fusion.h"
#include "exchange/onnx/export/output_names.h"
#include "exchange/onnx/model.h"
#include "iropt/ir/module.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

using Names = std::vector<std::string_view>;

// An expression in a graph: the name of a value or, for a tuple, those of its fields.
struct ExportedValue {
  Names names;
  bool is_tuple = false;
};

// Adds what the model stated of the dimensions of a tensor that are not known numbers.
void KeepStatedDims(const ValueType& stated, ValueType& type);

// The tensor of strings or complex numbers that a tuple of a shape and the elements is; nullopt for other tuples.
std::optional<TensorProto> OpaqueTensor(const iropt::Tuple& tuple, const Definitions& definitions);

class FunctionExporter {
 public:
  FunctionExporter(ExportContext& context, std::string_view function, FunctionExporter* outer = nullptr)
      : context_(context), function_(function), outer_(outer) {}

  ExportContext& context() { return context_; }
  // The graph that nodes are added to.
  GraphProto& graph() { return *graph_; }
  const Definitions& definitions() const { return definitions_; }

  // ---- Steps. They return false after an error was reported.
  // The parameters are the inputs, with these names as far as there are some, but for the last of them, which are the
  // values `captured` from around the graph.
  bool ExportGraph(const iropt::Function& function, const Names& inputs, const Names& outputs, const Names& captured,
                   GraphProto& graph);
  // The type of an input or output as the model stated it: of an object, or with dimensions of other names.
  void StateType(std::string_view name, ValueType type) { stated_[name] = std::move(type); }

  void StateOutputs(std::vector<std::optional<ValueType>> types) { stated_outputs_ = std::move(types); }

  // ---- For OpExport
  // The name of the tensor that an expression is. Empty after an error.
  std::string_view NameOf(const Expr* expr);
  // Adds a node and gives the names of its outputs.
  Names AddNode(std::string_view op, Names inputs, std::vector<AttributeProto> attributes = {}, size_t outputs = 1,
                std::string_view domain = "");
  std::string_view Add(std::string_view op, Names inputs, std::vector<AttributeProto> attributes = {}) {
    return AddNode(op, std::move(inputs), std::move(attributes)).front();
  }
  // Min or Max of integers, which the operators take from version 12 on.
  std::string_view IntExtremum(std::string_view op, std::string_view a, std::string_view b);
  // The values of dimensions.
  DimValues& dims() { return dims_; }
  // A constant tensor of int64 of rank 1, or of rank 0.
  std::string_view IntTensor(std::span<const int64_t> values);
  std::string_view IntScalar(int64_t value);
  // The graph of a private function for an attribute of a node, or null after an error.
  std::shared_ptr<GraphProto> BodyGraph(const GlobalVar* function, const Names& captured);
  // The type as the model says it.
  ValueType TypeOf(const Type* type);
  std::string_view Keep(std::string text) { return context_.model().Keep(std::move(text)); }
  // Returns whether anything uses field `i` of the tuple that the current binding binds.
  bool IsFieldUsed(size_t i) const { return definitions_.IsFieldUsed(current_, i); }
  // Returns whether a batch norm is that of inference by the mode.
  bool IsInference(const Call& call) const { return inference_calls_.contains(&call); }
  void Report(std::string_view op, std::string_view reason);

 private:
  bool ExportSequence(const Expr* body, ExportedValue& results);
  bool ExportBinding(const Binding* binding);
  bool ExportMatchCast(const MatchCast* binding);
  bool ExportValue(const Var* var, const Expr* value);
  bool ExportIf(const Var* var, const If* conditional);
  std::shared_ptr<GraphProto> ExportBranch(const Expr* branch);
  bool ExportCall(const Var* var, const Call* call);
  bool ExportFused(const Var* var, const FusedNode& node);
  // Gives the results of the nodes from `first` on the names that the variable asks for.
  void Define(const Var* var, Names results, bool is_tuple, size_t first);
  void Rename(std::string_view from, std::string_view to, size_t first_node);
  std::optional<ExportedValue> ValueOfLeaf(const Expr* expr);
  std::string_view OpaqueConstant(const iropt::Tuple* tuple);
  // A node that gives a value another name, in the graph of a node or in that of the model.
  NodeProto CopyOf(std::string_view value, std::string_view name, bool is_inner);
  bool AddOutputs(const ExportedValue& results, std::span<const Type* const> types, const Names& outputs,
                  GraphProto& graph);
  std::string_view DimName(const tir::Var* var);
  // Gives dimensions of an input the names that the model stated.
  void NameDims(const Type* type, const ValueType& stated);
  // Notes the symbolic variables of a parameter.
  void CollectSymbols(const Type* type);
  ValueInfo DescribeOutput(std::string_view name, const Type* type);
  void DescribeValue(std::string_view name, const Type* type);
  ValueInfo Describe(std::string_view name, const Type* type);

  ExportContext& context_;
  std::string_view function_;  // its name, for messages
  FunctionExporter* outer_;    // of the function around the graph
  Definitions definitions_;
  GraphProto* graph_ = nullptr;
  const Var* current_ = nullptr;  // that is bound
  LookupMap<const Var*, ExportedValue> values_;
  OutputNames names_{definitions_, context_};
  DimValues dims_{*this};
  std::unordered_map<const tir::Var*, std::string_view> dim_names_;
  LookupMap<std::string_view, ValueType> stated_;
  std::vector<std::optional<ValueType>> stated_outputs_;  // of a body
  std::unordered_set<const Call*> inference_calls_;
  LookupSet<const tir::Var*> symbols_;  // of the parameters
};

}  // namespace iropt::onnx
