// The origin of imported calls. A model is not a text, so its nodes are described in one, a line each:
//
//   Conv "conv1": x, w -> y  # MODEL.py:12
//
// with the line of the program that the exporter noted, if it did. The operator and the name are the span of the node's
// calls. Passes keep spans, so that messages show the node, and the writer finds its name again. After them come the
// initializers, whose names forms of them get that passes make, and then notes, which messages do not show: metadata,
// documentation, and names that are not identifiers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "exchange/onnx/model.h"
#include "iropt/diag/source.h"

namespace iropt::onnx {

// Where the program of the model computes the node: "MODEL.py:12", by the stack trace that PyTorch's exporter notes.
// Empty if there is none.
std::string SourceLineOf(const NodeProto& node);

// The operator as messages name it: with its domain if it is not one of ONNX's own.
std::string QualifiedOp(const NodeProto& node);

// Describes all nodes, those in graphs and functions as well, and the initializers of the model in a source with this
// name, and sets their spans. Fails
// if the sources of the run become too big. O(nodes).
Status PlaceNodes(Model& model, const std::string& name, SourceManager& sources);

struct NodePlace {
  std::string op;
  std::string name;
};

// The node that a span stands for; nullopt if it has no name or the span is not that of a node.
std::optional<NodePlace> PlaceAt(Span span, const SourceManager& sources);

// The operator of places that are initializers.
inline constexpr std::string_view kInitializer = "Initializer";

// What else a node says of itself, and the names of its outputs as far as variables cannot have them.
struct NodeNote {
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string doc;
};

// The notes of nodes, which follow their descriptions in the source.
class NodeNotes {
 public:
  explicit NodeNotes(const SourceManager* sources) : sources_(sources) {}

  // Null if the node has none, or the span is not that of a node. Amortized O(length of the source) for all spans.
  const NodeNote* Find(Span span);

 private:
  // Those of one source, by the distance of the node's description from them.
  struct Block {
    uint32_t first;  // an offset of the source's descriptions; all from there on are known to be of this source
    uint32_t begin;
    std::unordered_map<uint32_t, NodeNote> notes;
  };

  Block* BlockOf(uint32_t offset);

  const SourceManager* sources_;
  std::vector<Block> blocks_;
};

}  // namespace iropt::onnx
