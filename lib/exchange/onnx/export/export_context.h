// The state that the functions of one module share while they are exported.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "exchange/onnx/export/export.h"
#include "exchange/onnx/node_places.h"
#include "iropt/support/lookup.h"

namespace iropt::onnx {

// How reshapes are written that numbers would not tell where a size is 0.
struct ReshapeForms {
  bool are_exact = false;
  // Those of the model that was read, as TextOfReshape: a size of 0 stands for the dimension of the operand.
  LookupSet<std::string_view> copies_zeros;
  // Variables in shapes that have a -1: the model that was read is refused where one of them is 0.
  LookupSet<std::string_view> next_to_inferred;
};

class ExportContext {
 public:
  ExportContext(const Module& module, ExportedModel& result, const ExportOptions& options,
                DiagnosticEngine& diagnostics)
      : module_(module), result_(result), sources_(options.sources), mode_(options.mode), diagnostics_(diagnostics) {}

  const Module& module() const { return module_; }
  Model& model() { return result_.model; }
  NetworkMode mode() const { return mode_; }
  // Returns whether a model was read into the module.
  bool came_from_onnx() const;
  // The version of ONNX's own operators.
  int64_t opset() const { return opset_; }
  void set_opset(int64_t opset) { opset_ = opset; }

  ReshapeForms& reshape_forms() { return reshape_forms_; }
  void NoteExactReshape() { result_.has_exact_reshapes = true; }

  // ---- Names, which are unique in the model: graphs that are attributes see those around them
  // Takes a name; false if it is taken.
  bool Take(std::string_view name) { return names_.insert(result_.model.Keep(std::string(name))).second; }
  // ONNX's own operators that the model had in the operator set that is written: runtimes have some that the standard
  // added later.
  LookupSet<std::string_view>& known_operators() { return known_operators_; }

  // A name that starts with `hint`.
  std::string_view Unique(std::string_view hint);
  // Gives a name back that nothing has.
  void Release(std::string_view name) { names_.erase(name); }

  // The constant of this name; null if there is none.
  const TensorProto* FindInitializer(std::string_view name) const;

  // Gives one of the nodes the name of the node that a call was imported from, if it is of the same operator and no
  // other node has the name, and all of them its metadata.
  void NameNode(std::span<NodeProto> nodes, Span span);
  // A name that starts with `hint`, or the output of the node that a call was imported from if it is called the same.
  std::string_view NameOfOutput(Span span, std::string_view hint);
  // The same for one of several outputs.
  std::string_view NameOfOutput(Span span, size_t output, std::string_view hint);

  // ---- Constants
  // The name of the initializer for an array: one for all equal arrays as far as comparing them is cheap.
  std::string_view Initializer(const NDArray& array, std::string_view hint = "");
  std::string_view Initializer(std::shared_ptr<const NDArray> array, std::string_view hint);
  // Names that equal arrays have, by the much longer names of their initializers.
  const LookupMap<std::string_view, std::string_view>& shorter_names() const { return shorter_names_; }
  // The initializer for a tensor without an array.
  std::string_view Initializer(TensorProto tensor, std::string_view hint);
  // The name of the constant in the file that was read, or of the one that it is a form of; empty if there is none.
  std::string NameOf(const iropt::Constant& constant);
  // A tensor of the elements of the array, which must have an element type of ONNX.
  TensorProto TensorOf(const NDArray& array);

  // ---- Failure
  // Reports that ONNX lacks something that a function uses.
  void Report(std::string message, SourceSpan place = {});
  bool failed() const { return failed_; }

 private:
  // Notes a name for an initializer if it saves much.
  void WishFor(std::string_view name, std::string_view initializer);
  void Annotate(NodeProto& node, const NodeNote& note);
  // The bytes of the elements in a file: those of the array, or packed ones.
  const NDArray* FileBytesOf(const NDArray& array);
  static TensorProto TensorOf(const NDArray& array, const NDArray& bytes);

  const Module& module_;
  ExportedModel& result_;
  const SourceManager* sources_;
  NodeNotes notes_{sources_};
  std::optional<LookupSet<std::string_view>> names_in_use_;  // of tensors that were read; computed on demand
  const NetworkMode mode_;
  DiagnosticEngine& diagnostics_;
  int64_t opset_ = 0;
  ReshapeForms reshape_forms_;
  std::unordered_set<std::string_view> names_;
  LookupSet<std::string_view> node_names_;
  LookupSet<std::string_view> known_operators_;
  LookupMap<std::string_view, std::string_view> shorter_names_;
  LookupMap<std::string, size_t> suffixes_;  // the last number after each hint
  LookupMap<const NDArray*, std::string_view> by_array_;
  LookupMultiMap<uint64_t, std::pair<const NDArray*, std::string_view>> by_content_;
  bool failed_ = false;
};

}  // namespace iropt::onnx
