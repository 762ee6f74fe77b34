#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_set>

#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/structural.h"
#include "iropt/support/hash.h"
#include "structural_describe.h"
#include "structural_detail.h"

namespace iropt {

namespace {

using structural::Mode;

class Comparator {
 public:
  struct Settings {
    StructuralOptions options;
    bool describe;  // a failed comparison leaves a description of the first difference
    bool skip;      // see MaySkip
  };

  explicit Comparator(Settings settings) : settings_(settings) {}

  bool Compare(const Node* a, const Node* b, Mode mode = Mode::kUse) {
    if (a == nullptr || b == nullptr) return a == b || Differ(a, b);
    if (a == b && MaySkip(a)) return true;
    if (a->kind != b->kind) return Differ(a, b);
    switch (GroupOf(a->kind)) {
      case NodeGroup::kType: return CompareInterned(a, b, mode, (a->flags | b->flags) != 0);
      case NodeGroup::kAttr: return CompareInterned(a, b, mode, (a->flags & b->flags & Attr::kByStructure) != 0);
      case NodeGroup::kBinding:
      case NodeGroup::kStmt: {
        // The cache is valid for one expression.
        const int depth = std::exchange(depth_, 0);
        const bool equal = CompareDeep(a, b, mode);
        depth_ = depth;
        return equal;
      }
      default: return CompareDeep(a, b, mode);
    }
  }

  // Returns whether skipped nodes make the result invalid.
  bool needs_full_comparison() const { return needs_full_comparison_; }

  // "path: difference"
  std::string Description() const {
    std::string path;
    for (auto part = path_.rbegin(); part != path_.rend(); ++part) {
      if (!path.empty() && part->front() != '[') path += '.';
      path += *part;
    }
    return path.empty() ? difference_ : path + ": " + difference_;
  }

 private:
  struct MatchedNodes {
    const Node* from = nullptr;
    const Node* to = nullptr;
  };
  struct PairHash {
    size_t operator()(const std::pair<const Node*, const Node*>& pair) const {
      return HashCombine(HashMix(reinterpret_cast<uintptr_t>(pair.first)), reinterpret_cast<uintptr_t>(pair.second));
    }
  };

  // Returns whether a node is equal to itself. It is if every variable so far was matched with itself; the definitions
  // in the node are not recorded then, which is fine as long as they are not matched with others. If that happens
  // later, the comparison is repeated without skipping.
  bool MaySkip(const Node* node) {
    switch (GroupOf(node->kind)) {
      case NodeGroup::kType:
        if (node->flags == 0) return true;
        break;
      case NodeGroup::kAttr:
        if ((node->flags & Attr::kByStructure) == 0) return true;
        break;
      case NodeGroup::kPrim:
        if ((node->flags & (PrimExpr::kInterned | PrimExpr::kHasSymVar)) == PrimExpr::kInterned) return true;
        break;
      default:
        if (Is<Op>(node) || Is<GlobalVar>(node)) return true;
        break;
    }
    if (!settings_.skip) return false;
    skipped_ = true;
    return true;
  }

  bool CompareInterned(const Node* a, const Node* b, Mode mode, bool by_structure) {
    return by_structure || settings_.describe ? CompareDeep(a, b, mode) : a == b;
  }

  bool CompareDeep(const Node* a, const Node* b, Mode mode) {
    const bool sharable = structural::IsSharable(a);
    if (sharable) {
      if (depth_ == 0) {
        steps_ = 0;
        Forget();
      }
      if (++steps_ > structural::kStepsWithoutMemo && memo_.contains({a, b})) return true;
    }
    depth_ += sharable;
    const bool equal = WithStack([&] { return CompareExact(a, b, mode); });
    depth_ -= sharable;
    if (equal && sharable && steps_ > structural::kStepsWithoutMemo) memo_.insert({a, b});
    return equal;
  }

  bool CompareExact(const Node* a, const Node* b, Mode mode) {
    return Dispatch(a, [&](const auto* x) {
      using X = std::remove_cvref_t<decltype(*x)>;
      return CompareAs(x, static_cast<const X*>(b), mode);
    });
  }

  template <class X>
  bool CompareAs(const X* a, const X* b, Mode mode) {
    if constexpr (std::is_base_of_v<Var, X>) {
      // Types only refer to Relax variables.
      return mode == Mode::kUse || mode == Mode::kFirst ? CompareUse(a, b) : CompareDefinition(a, b, mode);
    } else if constexpr (std::is_base_of_v<tir::Var, X>) {
      return mode == Mode::kUse || (mode == Mode::kFirst && IsDefined(a, b)) ? CompareUse(a, b)
                                                                             : CompareDefinition(a, b, mode);
    } else if constexpr (std::is_same_v<X, tir::Buffer>) {
      // A buffer without a declaration counts as declared at its first use. Others with the same fields are views of
      // the same memory.
      if (!IsDefined(a, b)) return CompareDefinition(a, b, mode);
      return AreMatched(a, b) || CompareFields(a, b, Mode::kUse);
    } else if constexpr (std::is_same_v<X, Constant>) {
      if (!settings_.options.same_constants) return CompareFields(a, b, mode);
      return settings_.options.same_constants(*a, *b) || Differ(a, b);
    } else if constexpr (std::is_same_v<X, VarBinding>) {
      // A local function may call itself by its variable, whose type may use what the function defines.
      if (Is<Function>(a->value) && Is<Function>(b->value) && !Match(a->var, b->var)) return false;
      return CompareFields(a, b, mode);
    } else {
      return CompareFields(a, b, mode);
    }
  }

  template <class X>
  bool CompareFields(const X* a, const X* b, Mode mode) {
    return FieldsEqual(*a, *b, [&](auto field, const auto& x, const auto& y) {
      if (field.role == FieldRole::kIgnored || (field.role == FieldRole::kType && !structural::kTypeCounts<X>))
        return true;
      if (CompareValue(x, y, structural::FieldMode<X>(field.role, mode))) return true;
      if (settings_.describe) path_.emplace_back(field.name);
      return false;
    });
  }

  template <class T>
  bool CompareValue(const List<T>& a, const List<T>& b, Mode mode) {
    if (a.size() != b.size()) return Differ(a.size(), b.size(), "items");
    for (uint32_t i = 0; i < a.size(); ++i) {
      if (CompareValue(a[i], b[i], mode)) continue;
      if (settings_.describe) path_.push_back(std::string("[").append(std::to_string(i)).append("]"));
      return false;
    }
    return true;
  }

  template <class T>
  bool CompareValue(const T& a, const T& b, Mode mode) {
    if constexpr (std::is_convertible_v<T, const Type*>) {
      return Compare(a, b, mode == Mode::kUse ? Mode::kUse : Mode::kFirst);
    } else if constexpr (std::is_convertible_v<T, const Node*>) {
      return Compare(a, b, mode);
    } else if constexpr (std::is_same_v<T, const NDArray*>) {
      return a == b || (a != nullptr && b != nullptr && *a == *b) || Differ(a, b);
    } else if constexpr (std::is_same_v<T, const tir::PointerInfo*>) {
      return a == b || (a != nullptr && b != nullptr && structural::SamePointer(*a, *b)) || Differ(a, b);
    } else if constexpr (std::is_same_v<T, double>) {
      // All NaNs are one value.
      return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b) || (std::isnan(a) && std::isnan(b)) ||
             Differ(a, b);
    } else {
      return a == b || Differ(a, b);
    }
  }

  // Clearing a table that was big once would take long every time.
  void Forget() {
    if (!memo_.empty()) memo_ = {};
  }

  template <class V>
  bool IsDefined(const V* a, const V* b) const {
    const MatchedNodes* forward = forward_.Find(a);
    const MatchedNodes* backward = backward_.Find(b);
    return (forward && forward->from == a) || (backward && backward->from == b);
  }

  template <class V>
  bool CompareUse(const V* a, const V* b) {
    if (!IsDefined(a, b)) {
      if (settings_.options.map_free_vars) return CompareDefinition(a, b, Mode::kParam);
      return a == b || Differ(a, b);
    }
    return AreMatched(a, b) || Differ(a, b);
  }

  template <class V>
  bool AreMatched(const V* a, const V* b) const {
    const MatchedNodes* forward = forward_.Find(a);
    const MatchedNodes* backward = backward_.Find(b);
    return forward && forward->from == a && forward->to == b && backward && backward->from == b && backward->to == a;
  }

  template <class V>
  bool CompareDefinition(const V* a, const V* b, Mode mode) {
    if (a->kind != b->kind) return Differ(a, b);
    // The type of a variable introduces symbolic variables only if it is a parameter.
    const Mode field_mode = std::is_base_of_v<Var, V> && mode == Mode::kDefine ? Mode::kUse : mode;
    return CompareFields(a, b, field_mode) && Match(a, b);
  }

  // Records that the two are the same variable.
  template <class V>
  bool Match(const V* a, const V* b) {
    MatchedNodes& forward = forward_[a];
    MatchedNodes& backward = backward_[b];
    // Other variables replace earlier ones: nodes that were found equal may no longer be.
    if (forward.from != nullptr || backward.from != nullptr) Forget();
    forward = {a, b};
    backward = {b, a};
    if (a == b) return true;
    needs_full_comparison_ = skipped_;
    settings_.skip = false;
    return !needs_full_comparison_;
  }

  template <class A, class B>
  bool Differ(const A& a, const B& b, std::string_view what = {}) {
    if (settings_.describe && difference_.empty()) difference_ = structural::DescribePair(a, b, what);
    return false;
  }

  Settings settings_;
  bool skipped_ = false;
  bool needs_full_comparison_ = false;
  structural::VarTable<MatchedNodes> forward_;
  structural::VarTable<MatchedNodes> backward_;
  int depth_ = 0;  // of nested expressions
  int steps_ = 0;  // within the outermost of them
  std::unordered_set<std::pair<const Node*, const Node*>, PairHash> memo_;
  std::vector<std::string> path_;  // from the difference outwards
  std::string difference_;
};

// A description of the difference, if asked for and there is one.
bool CompareNodes(const Node* a, const Node* b, StructuralOptions options, std::string* description) {
  bool skip = !options.map_free_vars;
  for (;;) {
    Comparator comparator({options, description != nullptr, skip});
    const bool equal = comparator.Compare(a, b);
    if (comparator.needs_full_comparison()) {
      skip = false;
      continue;
    }
    if (!equal && description != nullptr) *description = comparator.Description();
    return equal;
  }
}

std::vector<const ModuleEntry*> ByName(const Module& module) {
  std::vector<const ModuleEntry*> entries;
  for (const ModuleEntry& entry : module.functions()) entries.push_back(&entry);
  std::sort(entries.begin(), entries.end(), [](const auto* a, const auto* b) { return a->var->name < b->var->name; });
  return entries;
}

bool CompareFunctions(const Module& a, const Module& b, StructuralOptions options, std::string* description) {
  const auto differ = [&](std::string_view name, std::string_view what) {
    if (description != nullptr) description->append("functions.").append(name).append(what);
    return false;
  };
  const std::vector<const ModuleEntry*> in_a = ByName(a);
  const std::vector<const ModuleEntry*> in_b = ByName(b);
  for (size_t i = 0; i < in_a.size() || i < in_b.size(); ++i) {
    if (i >= in_b.size() || (i < in_a.size() && in_a[i]->var->name < in_b[i]->var->name)) {
      return differ(in_a[i]->var->name, ": only in the first module");
    }
    if (i >= in_a.size() || in_a[i]->var != in_b[i]->var)
      return differ(in_b[i]->var->name, ": only in the second module");
    std::string where;
    if (CompareNodes(in_a[i]->func, in_b[i]->func, options, description ? &where : nullptr)) continue;
    return differ(in_a[i]->var->name, std::string(".").append(where));
  }
  return true;
}

bool CompareGlobalInfos(const Module::GlobalInfos& a, const Module::GlobalInfos& b) {
  const auto same_list = [](const auto& x, const auto& y) {
    return x.first == y.first &&
           std::equal(x.second.begin(), x.second.end(), y.second.begin(), y.second.end(), AttrEqual);
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_list);
}

bool CompareModules(const Module& a, const Module& b, StructuralOptions options, std::string* description) {
  if (!AttrEqual(a.attrs(), b.attrs())) {
    std::string where;
    if (description != nullptr) {
      CompareNodes(a.attrs(), b.attrs(), {}, &where);
      description->append("attrs.").append(where);
    }
    return false;
  }
  if (!CompareGlobalInfos(a.global_infos(), b.global_infos())) {
    if (description != nullptr) *description = "global_infos: not the same";
    return false;
  }
  return CompareFunctions(a, b, options, description);
}

}  // namespace

bool StructuralEqual(const Node* a, const Node* b, StructuralOptions options) {
  return CompareNodes(a, b, options, nullptr);
}

bool StructuralEqual(const Module& a, const Module& b, StructuralOptions options) {
  return CompareModules(a, b, options, nullptr);
}

std::optional<std::string> FirstDifference(const Node* a, const Node* b, StructuralOptions options) {
  std::string description;
  if (CompareNodes(a, b, options, nullptr) || CompareNodes(a, b, options, &description)) return std::nullopt;
  return description;
}

std::optional<std::string> FirstDifference(const Module& a, const Module& b, StructuralOptions options) {
  std::string description;
  if (CompareModules(a, b, options, nullptr) || CompareModules(a, b, options, &description)) return std::nullopt;
  return description;
}

}  // namespace iropt
