// Names in scope while a function is read: Python names to IR nodes, with scopes. A definition in an inner scope hides
// the outer one until the scope ends.
#pragma once

#include <string_view>
#include <vector>

#include "constant_map.h"
#include "iropt/ir/node.h"
#include "iropt/support/name_map.h"
#include "occurrence_recorder.h"

namespace iropt::text {

class SymbolTable {
 public:
  // Makes room for that many names.
  void Reserve(size_t expected) { names_.Reserve(expected); }

  // Takes note of definitions and uses from now on; null for none.
  void set_recorder(OccurrenceRecorder* recorder) { recorder_ = recorder; }
  OccurrenceRecorder* recorder() const { return recorder_; }

  // Names that are not in the table are looked up among the constants, as they are after so many definitions.
  void set_constants(const ConstantMap* constants, uint32_t definitions) {
    constants_ = definitions == 0 ? nullptr : constants;
    num_constants_ = definitions;
    letters_ |= constants->letters();
  }

  // Null if the name is not in scope.
  const Node* Find(std::string_view name) const {
    const uint32_t i = names_.Find(name);
    if (i == Names::kNone) return constants_ == nullptr ? nullptr : constants_->Find(name, num_constants_);
    const Symbol& symbol = names_[i].value;
    if (symbol.node == nullptr) return constants_ == nullptr ? nullptr : constants_->Find(name, num_constants_);
    if (recorder_ != nullptr) recorder_->Use(name, symbol.definition);
    return symbol.node;
  }

  // Node of a name, and its definition by the recorder. Peek looks neither at constants nor takes note of a use.
  struct Meaning {
    const Node* node = nullptr;
    uint32_t definition = 0;
  };
  Meaning Peek(std::string_view name) const {
    const uint32_t i = names_.Find(name);
    return i == Names::kNone ? Meaning{} : Meaning{names_[i].value.node, names_[i].value.definition};
  }

  // False only if no variable of that name can be in scope: a cheap test for names of one letter.
  bool MayHold(std::string_view name) const { return name.size() != 1 || (letters_ >> (name[0] & 63) & 1); }

  void Define(std::string_view name, const Node* node) {
    Define(name, node, recorder_ == nullptr ? 0 : recorder_->Define(name, node));
  }
  // Defines what a name at a place of the text, or at one of two, defined in a scope that has ended.
  void DefineAgain(std::string_view name, const Node* node, std::string_view place, std::string_view other = {}) {
    uint32_t definition = 0;
    if (recorder_ != nullptr) {
      definition = recorder_->DefineAgain(place, node);
      if (!other.empty()) recorder_->Join(other, definition);
    }
    Define(name, node, definition);
  }

  // Defines the name as a definition that the recorder has.
  void DefineAs(std::string_view name, const Node* node, uint32_t definition) { Define(name, node, definition); }

  void PushScope() { scopes_.push_back({names_.size(), hidden_.size()}); }
  void PopScope() {
    const Scope scope = scopes_.back();
    scopes_.pop_back();
    while (names_.size() > scope.names) names_.PopBack();
    while (hidden_.size() > scope.hidden) {
      names_[hidden_.back().index].value = hidden_.back().symbol;
      hidden_.pop_back();
    }
  }
  size_t scope_depth() const { return scopes_.size(); }
  // A new scope in which names mean what they mean now in a scope that encloses it, the one at that depth. O(names of
  // the scopes between).
  void PushScopeWithin(size_t depth) {
    const Scope inner = depth < scopes_.size() ? scopes_[depth] : Scope{names_.size(), hidden_.size()};
    const uint32_t num_names = names_.size();
    const size_t num_hidden = hidden_.size();
    PushScope();
    for (uint32_t i = inner.names; i < num_names; ++i) DefineAs(names_[i].name(), nullptr, 0);
    // The first definition of a name that those scopes hide is the outer one.
    for (size_t i = num_hidden; i-- > inner.hidden;) {
      const Hidden outer = hidden_[i];
      if (outer.index < inner.names) DefineAs(names_[outer.index].name(), outer.symbol.node, outer.symbol.definition);
    }
  }

  // Calls f(name, node) for every name in scope, in the order of definition; for suggestions in messages.
  template <class F>
  void ForEach(F&& f) const {
    for (uint32_t i = 0; i < names_.size(); ++i) {
      if (names_[i].value.node) f(names_[i].name(), names_[i].value.node);
    }
  }
  // Calls f(name) for every name of a constant that is in scope.
  template <class F>
  void ForEachConstant(F&& f) const {
    if (!constants_) return;
    constants_->ForEachName([&](std::string_view name) {
      if (constants_->Find(name, num_constants_)) f(name);
    });
  }

 private:
  struct Symbol {
    const Node* node = nullptr;
    uint32_t depth = 0;       // of the scope that defined it
    uint32_t definition = 0;  // for the recorder
  };
  using Names = NameMap<Symbol>;
  struct Scope {
    uint32_t names;
    size_t hidden;
  };
  struct Hidden {
    uint32_t index;
    Symbol symbol;
  };
  uint32_t depth() const { return static_cast<uint32_t>(scopes_.size()); }
  void Define(std::string_view name, const Node* node, uint32_t definition) {
    if (name.size() == 1) letters_ |= uint64_t{1} << (name[0] & 63);
    const auto [index, added] = names_.Insert(name, {node, depth(), definition});
    if (added) return;
    Symbol& symbol = names_[index].value;
    // A hidden outer definition is kept for the end of the scope.
    if (symbol.depth != depth()) hidden_.push_back({index, symbol});
    symbol = {node, depth(), definition};
  }

  Names names_;
  std::vector<Scope> scopes_;
  std::vector<Hidden> hidden_;
  OccurrenceRecorder* recorder_ = nullptr;
  const ConstantMap* constants_ = nullptr;
  uint32_t num_constants_ = 0;
  uint64_t letters_ = 0;  // a bit for each letter that was ever the name of a variable or constant
};

}  // namespace iropt::text
