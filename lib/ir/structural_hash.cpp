#include <bit>
#include <cmath>

#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup.h"
#include "structural_detail.h"

namespace iropt {

namespace {

using structural::Mode;

// Follows the comparison: equal nodes must hash the same. A bound variable counts as the number of its definition, a
// free one as itself.
class Hasher {
 public:
  explicit Hasher(StructuralOptions options) : options_(options) {}

  uint64_t Hash(const Node* node, Mode mode = Mode::kUse) {
    if (node == nullptr) return 0;
    switch (GroupOf(node->kind)) {
      case NodeGroup::kType:
        if (node->flags == 0) return static_cast<const Type*>(node)->content_hash;
        return HashDeep(node, mode);
      case NodeGroup::kAttr:
        // Values that refer to variables may be equal and yet differ in content.
        if (const auto* attr = static_cast<const Attr*>(node); !attr->by_structure()) return attr->content_hash;
        return HashDeep(node, mode);
      case NodeGroup::kBinding:
      case NodeGroup::kStmt: {
        const int depth = std::exchange(depth_, 0);
        const uint64_t hash = HashDeep(node, mode);
        depth_ = depth;
        return hash;
      }
      default: return HashDeep(node, mode);
    }
  }

 private:
  struct Definition {
    const Node* node = nullptr;
    uint32_t number = 0;
  };

  uint64_t HashDeep(const Node* node, Mode mode) {
    const bool sharable = structural::IsSharable(node);
    if (sharable) {
      if (depth_ == 0) {
        steps_ = 0;
        Forget();
      }
      if (++steps_ > structural::kStepsWithoutMemo) {
        if (const auto* found = memo_.Find(node)) return *found;
      }
    }
    const uint32_t numbered = next_number_;
    depth_ += sharable;
    const uint64_t hash = WithStack([&] { return HashExact(node, mode); });
    depth_ -= sharable;
    // A node with definitions inside hashes differently the next time.
    if (sharable && steps_ > structural::kStepsWithoutMemo && numbered == next_number_) memo_.try_emplace(node, hash);
    return hash;
  }

  uint64_t HashExact(const Node* node, Mode mode) {
    return Dispatch(node, [&](const auto* exact) { return HashAs(exact, mode); });
  }

  template <class X>
  uint64_t HashAs(const X* node, Mode mode) {
    if constexpr (std::is_base_of_v<Var, X>) {
      return mode == Mode::kUse || mode == Mode::kFirst ? HashUse(node) : HashDefinition(node, mode);
    } else if constexpr (std::is_base_of_v<tir::Var, X>) {
      return mode == Mode::kUse || (mode == Mode::kFirst && IsDefined(node)) ? HashUse(node)
                                                                             : HashDefinition(node, mode);
    } else if constexpr (std::is_same_v<X, tir::Buffer>) {
      return HashBuffer(node, mode);
    } else if constexpr (std::is_same_v<X, VarBinding>) {
      // A local function may call itself by its variable, whose type may use what the function defines.
      if (Is<Function>(node->value)) Number(node->var);
      return HashFields(node, mode);
    } else {
      return HashFields(node, mode);
    }
  }

  template <class X>
  uint64_t HashFields(const X* node, Mode mode) {
    uint64_t hash = HashMix(static_cast<uint64_t>(node->kind));
    ForEachField(node, [&](auto field, const auto& value) {
      if (field.role == FieldRole::kIgnored || (field.role == FieldRole::kType && !structural::kTypeCounts<X>)) return;
      hash = HashCombine(hash, HashValue(value, structural::FieldMode<X>(field.role, mode)));
    });
    return hash;
  }

  template <class T>
  uint64_t HashValue(const List<T>& list, Mode mode) {
    uint64_t hash = list.size();
    for (const T& item : list) hash = HashCombine(hash, HashValue(item, mode));
    return hash;
  }

  template <class T>
  uint64_t HashValue(const T& value, Mode mode) {
    if constexpr (std::is_convertible_v<T, const Type*>) {
      return Hash(value, mode == Mode::kUse ? Mode::kUse : Mode::kFirst);
    } else if constexpr (std::is_convertible_v<T, const Node*>) {
      return Hash(value, mode);
    } else if constexpr (std::is_same_v<T, const NDArray*>) {
      return value ? value->Hash() : 0;
    } else if constexpr (std::is_same_v<T, const tir::PointerInfo*>) {
      return value ? HashCombine(HashString(structural::ComparedScope(*value)), value->elem.raw()) : 0;
    } else if constexpr (std::is_same_v<T, double>) {
      return std::isnan(value) ? 0 : std::bit_cast<uint64_t>(value);
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return HashString(value);
    } else if constexpr (std::is_same_v<T, DataType>) {
      return value.raw();
    } else {
      return static_cast<uint64_t>(value);
    }
  }

  // Clearing a table that was big once would take long every time.
  void Forget() {
    if (!memo_.empty()) memo_ = {};
  }

  template <class V>
  bool IsDefined(const V* var) const {
    const Definition* definition = numbers_.Find(var);
    return definition && definition->node == var;
  }

  template <class V>
  uint64_t HashUse(const V* var) {
    if (IsDefined(var)) return HashCombine(1, numbers_.Find(var)->number);
    if (options_.map_free_vars) return HashDefinition(var, Mode::kParam);
    // It is only equal to itself.
    return HashCombine(2, var->id);
  }

  template <class V>
  uint64_t HashDefinition(const V* var, Mode mode) {
    const Mode field_mode = std::is_base_of_v<Var, V> && mode == Mode::kDefine ? Mode::kUse : mode;
    const uint64_t hash = HashFields(var, field_mode);
    return HashCombine(hash, Number(var));
  }

  // Buffers with the same fields are equal: the first one counts as the definition of variables that it introduces.
  uint64_t HashBuffer(const tir::Buffer* buffer, Mode mode) {
    uint64_t definition = 0;
    if (!IsDefined(buffer)) {
      const uint32_t numbered = next_number_;
      const uint64_t hash = HashFields(buffer, mode);
      if (next_number_ != numbered) definition = hash;
      numbers_[buffer] = {buffer, 0};
    }
    const auto [known, added] = buffers_.try_emplace(buffer);
    if (added) {
      const uint64_t hash = HashFields(buffer, Mode::kUse);
      buffers_[buffer] = hash;
      return HashCombine(definition, hash);
    }
    return HashCombine(definition, known);
  }

  template <class V>
  uint32_t Number(const V* var) {
    Definition& definition = numbers_[var];
    if (definition.node != nullptr) {
      Forget();
      buffers_.clear();
    }
    definition = {var, next_number_++};
    return definition.number;
  }

  StructuralOptions options_;
  structural::VarTable<Definition> numbers_;
  uint32_t next_number_ = 0;
  int depth_ = 0;  // of nested expressions
  int steps_ = 0;  // within the outermost of them
  LookupMap<const Node*, uint64_t> memo_;
  LookupMap<const tir::Buffer*, uint64_t> buffers_;  // as uses, while no variable is defined again
};

}  // namespace

uint64_t StructuralHash(const Node* node, StructuralOptions options) { return Hasher(options).Hash(node); }

uint64_t StructuralHash(const Module& module) {
  uint64_t hash = HashMix(module.attrs()->content_hash);
  // A sum, because the order of functions does not count.
  for (const ModuleEntry& entry : module.functions()) {
    hash += HashCombine(HashString(entry.var->name), StructuralHash(entry.func));
  }
  for (const auto& [name, infos] : module.global_infos()) {
    hash = HashCombine(hash, HashString(name));
    for (const Attr* info : infos) hash = HashCombine(hash, info->content_hash);
  }
  return hash;
}

}  // namespace iropt
