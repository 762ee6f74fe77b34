// Makes one Relax function of a graph.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exchange/onnx/import/local_functions.h"
#include "exchange/onnx/import/op_import.h"
#include "exchange/onnx/import/operand_folder.h"
#include "exchange/onnx/import/value.h"
#include "exchange/onnx/import/whole_nodes.h"
#include "exchange/onnx/model.h"
#include "exchange/onnx/tensors.h"
#include "exchange/onnx/types/node_types.h"
#include "iropt/exchange/format.h"
#include "iropt/infer/type_inferrer.h"
#include "iropt/ir/module.h"
#include "iropt/ir/relax/builder.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

struct OpRow;

// What the model's reshapes tell of sizes of 0.
struct ReshapeFacts {
  bool is_computed = false;  // some shape
  // Symbolic variables in shapes that have a -1: where one of them is 0, runtimes refuse the model.
  std::set<std::string, std::less<>> next_to_inferred;
  // Computed shapes, as TextOfReshape, and whether a size of 0 stands for the dimension of the operand in all of them.
  std::map<std::string, bool, std::less<>> copies_zeros;
};

// State that the functions of one module share.
struct ImportContext {
  const Model& model;
  TensorReader& tensors;
  DiagnosticEngine& diagnostics;
  // Operators that stay calls otherwise become what they compute.
  bool defines = false;
  Module module = {};
  LocalFunctions functions = LocalFunctions(model);
  NodeCounter count_nodes = nullptr;  // for a module that is written as ONNX again; null: it is not
  KeptShapes kept_shapes = KeptShapes::None;
  ReshapeFacts reshapes = {};
  std::deque<std::vector<NodeProto>> nodes_of_calls = {};  // of functions, where a call leaves inputs out
};

// The operator sets that nodes are of, and the values of attributes that they refer to: those of the model, or those of
// a model-local function and its call.
struct NodeContext {
  const std::vector<OperatorSet>* opsets;
  const NodeProto* call = nullptr;
  const FunctionProto* function = nullptr;
  int depth = 0;  // of calls of model-local functions
};

class FunctionImporter {
 public:
  explicit FunctionImporter(ImportContext& context);

  Workspace& workspace() { return workspace_; }
  BlockBuilder& builder() { return builder_; }
  ImportContext& context() { return context_; }

  // ---- Steps. They return false after an error was reported.
  // Makes a parameter for the input.
  const Var* AddParameter(const ValueInfo& input, Scope& scope);
  // Adds the initializers to the scope.
  bool AddInitializers(const GraphProto& graph, Scope& scope);
  // Imports the nodes in their order, into dataflow blocks and, for conditionals, between them. `outputs` are used
  // after all nodes.
  bool ImportNodes(const std::vector<NodeProto>& nodes, const std::vector<std::string_view>& outputs,
                   const NodeContext& nodes_of, Scope& scope);
  // All of a graph but its parameters: a sequence that ends with its outputs, a tuple if there are several. Null after
  // an error.
  const SeqExpr* ImportBody(const GraphProto& graph, const NodeContext& nodes_of, Scope& scope);

  // The nodes of a graph without parameters among those around it: the values of its outputs. Nullopt after an error.
  std::optional<std::vector<const Expr*>> ImportInline(const GraphProto& graph, const NodeContext& nodes_of,
                                                       Scope& scope);

  // ---- For OpImport
  // The operand that a value stands for. Elements become a tensor.
  const Expr* Operand(Value& value);
  // A call with the span of the current node.
  const iropt::Call* MakeCall(OpId op, std::span<const Expr* const> args, const Attr* attrs = nullptr,
                              const TupleType* type_args = nullptr);
  // A call with the span.
  const iropt::Call* MakeCallAt(Span span, OpId op, std::span<const Expr* const> args, const Attr* attrs = nullptr,
                                const TupleType* type_args = nullptr);
  // The constant that an expression is or that its operators compute; null for other values.
  const iropt::Constant* ConstantBehind(const Expr* expr) { return folder_.Find(expr); }
  std::optional<Elements> ElementsOfConstant(const Expr* expr);
  void Report(std::string message);
  const NodeContext& node_context() const { return *node_context_; }
  // The names of values, by the variables that are bound to them.
  const ValueNames& value_names() const { return value_names_; }
  // The type of the output of a node: what follows from the node, and what the model states of it apart from that.
  const Type* StatedType(std::string_view name, const NodeType& known);
  // Keeps the dimensions that are known of the outputs of a node, where others are not, which get names when the value
  // is bound.
  void KeepDims(const OpImport& op, const Expr* value, const std::vector<NodeType>& known);
  // The statement that imports nodes which are attributes of the current node sees the symbolic variables so far, and
  // those that it defines end with it.
  template <class F>
  auto WithSymbols(F&& body) {
    const auto saved = symbols_;
    auto result = body();
    symbols_ = saved;
    return result;
  }

 private:
  // The blocks of a function or a branch.
  struct Sequence {
    std::vector<const BindingBlock*> blocks;
    bool open = false;
    bool is_dataflow = false;
  };

  bool ImportNode(const NodeProto& node, Scope& scope);
  bool ImportResolved(const NodeProto& node, Scope& scope);
  bool ImportCall(const FunctionProto& function, const NodeProto& node, Scope& scope);
  const std::vector<NodeProto>& LeaveOut(const LookupSet<std::string_view>& missing,
                                         const std::vector<NodeProto>& nodes);
  // The row becomes null if it is not for values of these types.
  bool CheckInputs(const NodeProto& node, const OpRow*& row, Scope& scope);
  // Keeps the dimensions that follow from a node that became a value.
  void KeepDims(OpImport& op, const Expr* value);
  bool Bind(const NodeProto& node, Value value, Scope& scope);
  bool BindOutput(const NodeProto& node, size_t i, const Expr* expr, Scope& scope);
  // Binds a variable to an expression that is not a leaf.
  const Expr* EmitValue(const Expr* value, std::string_view name);
  // The type that the model states, if it says more than the inferred one; null otherwise.
  const Type* StatedCast(const Type* inferred, std::string_view name);
  void FindEscaping(const std::vector<NodeProto>& nodes, const std::vector<std::string_view>& outputs);
  void OpenBlock(bool is_dataflow);
  void CloseBlock();
  // The type. `known` are dimensions that need not be stated. If another one is neither a number nor the name of a
  // variable in scope, the type has only the rank, or it `defines` variables.
  const Type* TypeOf(const ValueType& type, bool defines, const Dims& known = std::nullopt);
  void StateTypes(const GraphProto& graph);
  // The values of the outputs; nullopt after an error.
  std::optional<std::vector<const Expr*>> ResultsOf(const GraphProto& graph, Scope& scope);

  ImportContext& context_;
  Workspace workspace_;
  OpTypeInferrer inferrer_;
  BlockBuilder builder_;
  OperandFolder folder_;
  std::unordered_map<std::string_view, const tir::Var*> symbols_;
  LookupMap<std::string_view, const ValueType*> stated_;
  LookupMap<std::string_view, std::vector<const PrimExpr*>> known_dims_;
  LookupSet<std::string_view> escaping_;  // values that are used outside of the block that binds them
  ValueNames value_names_;
  std::vector<Sequence> sequences_;  // that are open, innermost last
  const NodeContext* node_context_ = nullptr;
  const NodeProto* node_ = nullptr;  // that is imported
};

// The names that a graph uses and does not define, each once, in the order of their uses.
std::vector<std::string_view> FreeNames(const GraphProto& graph);

}  // namespace iropt::onnx
