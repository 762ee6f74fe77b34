#include "iropt/ir/clone.h"

#include "iropt/ir/context.h"
#include "iropt/ir/ndarray.h"
#include "iropt/ir/relax/visitor.h"
#include "iropt/ir/substitute.h"
#include "iropt/support/lookup.h"
#include "iropt/support/parallel.h"
#include "structural_detail.h"

namespace iropt {

class Cloner::Impl final : public TypeMapper {
 public:
  Impl(Workspace& workspace, CloneOptions options)
      : TypeMapper(&workspace.arena()), workspace_(workspace), options_(std::move(options)) {}

  template <class V, class To>
  void Remap(const V* from, const To* to) {
    copies_[from] = {from, to};
    if constexpr (std::is_same_v<V, tir::Var>) maps_sym_vars_ |= from->context_owned();
  }

  const Node* CloneNode(const Node* node, bool define = false) {
    if (node == nullptr) return nullptr;
    switch (GroupOf(node->kind)) {
      case NodeGroup::kType: return Map(static_cast<const Type*>(node));
      case NodeGroup::kAttr: return Map(static_cast<const Attr*>(node));
      case NodeGroup::kPrim: return ClonePrim(static_cast<const PrimExpr*>(node), define);
      case NodeGroup::kExpr: return CloneExpr(static_cast<const Expr*>(node), define);
      case NodeGroup::kPart: return ClonePart(node, define);
      case NodeGroup::kBinding: {
        // Bound values have one parent; only what is nested in them may have more.
        const int depth = std::exchange(depth_, 0);
        const Node* copy = CloneDeep(node);
        depth_ = depth;
        return copy;
      }
      default: return CloneDeep(node);
    }
  }

 private:
  struct Copy {
    const Node* from = nullptr;
    const Node* to = nullptr;
  };

  const Node* ClonePrim(const PrimExpr* expr, bool define) {
    if (const auto* var = As<tir::Var>(expr)) {
      if (!var->context_owned()) return CloneVar(var, define);
      return options_.own_sym_vars ? CloneVar(var, define) : MapSymVar(var);
    }
    if (!expr->interned()) return CloneOnce(expr);
    // The copy of an expression with other variables is not the one of the context.
    if (options_.own_sym_vars) return expr->has_sym_var() ? CloneOnce(expr) : expr;
    return options_.fresh_sym_vars || maps_sym_vars_ ? Map(expr) : expr;
  }

  const Node* CloneExpr(const Expr* expr, bool define) {
    if (const auto* var = As<Var>(expr)) return CloneVar(var, define);
    // Owned by the context and by the operator table.
    if (Is<Op>(expr) || Is<GlobalVar>(expr)) return expr;
    return depth_ > 0 ? CloneOnce(expr) : CloneDeep(expr);
  }

  const Node* ClonePart(const Node* node, bool define) {
    if (const auto* buffer = As<tir::Buffer>(node)) return CloneBuffer(buffer, define);
    return Is<tir::IterVar>(node) || Is<tir::CommReducer>(node) || Is<tir::DataProducer>(node) ? CloneOnce(node)
                                                                                               : CloneDeep(node);
  }

  const Node* CloneOnce(const Node* node) {
    if (const auto* found = shared_.Find(node)) return *found;
    const Node* copy = CloneDeep(node);
    shared_.try_emplace(node, copy);
    return copy;
  }

  const Node* CloneDeep(const Node* node) {
    const bool is_expr = GroupOf(node->kind) == NodeGroup::kExpr;
    depth_ += is_expr;
    const Node* copy =
        WithStack([&] { return Dispatch(node, [this](const auto* exact) { return CloneExact(exact); }); });
    depth_ -= is_expr;
    return copy;
  }

  template <class X>
  const Node* CloneExact(const X* node) {
    DefineVarsOf(*node);
    X copy = *node;
    if constexpr (std::is_base_of_v<PrimExpr, X>)
      copy.flags &= static_cast<uint8_t>(~(PrimExpr::kInterned | PrimExpr::kHasSymVar));
    CloneFields(copy);
    return workspace_.New<X>(copy);
  }

  template <class X>
  void CloneFields(X& copy) {
    // Attribute statements name variables that may be introduced elsewhere.
    constexpr bool kDefines = !std::is_same_v<X, tir::AttrStmt>;
    const auto clone = [&](auto field) { CloneField(copy.*(field.member), kDefines && field.role == FieldRole::kDef); };
    // Not every expression lists its type among the fields; mapped nodes must not be mapped again.
    if constexpr (std::is_base_of_v<Expr, X>) {
      const Type* type = copy.type;
      X::Fields()([&](auto... field) { (clone(field), ...); });
      copy.type = Map(type);
    } else {
      X::Fields()([&](auto... field) { (clone(field), ...); });
    }
  }

  template <class T>
  void CloneField(T& value, bool define) {
    if constexpr (visit_detail::IsList<T>::value) {
      using Item = std::remove_cvref_t<decltype(value[0])>;
      const std::span<Item> items = workspace_.arena().Copy(value.span());
      for (Item& item : items) CloneField(item, define);
      value = items;
    } else if constexpr (std::is_same_v<T, const Var*> || std::is_same_v<T, const tir::Var*>) {
      // A caller may have mapped a variable to an expression that is not allowed here.
      value = To<std::remove_cvref_t<decltype(*value)>>(CloneNode(value, define));
    } else if constexpr (std::is_convertible_v<T, const Node*>) {
      value = static_cast<T>(CloneNode(value, define));
    } else if constexpr (std::is_same_v<T, const NDArray*>) {
      if (value != nullptr) workspace_.arena().Retain(value->shared_from_this());
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      value = workspace_.arena().CopyString(value);
    }
  }

  template <class V>
  const Node* Find(const V* from) const {
    const Copy* copy = copies_.Find(from);
    return copy && copy->from == from ? copy->to : nullptr;
  }

  template <class V>
  const Node* CloneVar(const V* var, bool define) {
    if (const Node* copy = Find(var)) return copy;
    if (!define && !options_.copy_free_vars) return var;
    const Node* copy = NewVar(var);
    Remap(var, copy);
    return copy;
  }

  // In the arena, or of the original.
  std::string_view NameOf(const Node* original, std::string_view name) {
    return options_.name_of ? workspace_.arena().CopyString(options_.name_of(original, name)) : name;
  }

  const Node* NewVar(const Var* var) {
    const Type* type = Map(var->type);
    const std::string_view name = NameOf(var, var->name());
    Var* copy = var->is_dataflow() ? workspace_.NewDataflowVar(name, type) : workspace_.NewVar(name, type);
    copy->set_span(var->span());
    return copy;
  }

  const Node* NewVar(const tir::Var* var) {
    tir::Var* copy;
    const std::string_view name = NameOf(var, var->name);
    if (var->is_size_var()) {
      copy = workspace_.New<tir::SizeVar>(workspace_.arena().CopyString(name), var->dtype, workspace_.NextVarId());
    } else {
      copy = workspace_.NewPrimVar(name, var->dtype, var->pointer);
      copy->flags |= static_cast<uint8_t>(var->flags & tir::Var::kBufferPointer);
    }
    copy->set_span(var->span());
    return copy;
  }

  // The variables that the buffers of a node introduce: memory, and the sizes of matched buffers. They come before all
  // fields, because the shape of a buffer may use what a later one defines.
  void DefineVarsOf(const PrimFunc& func) {
    for (const tir::Buffer* buffer : func.param_buffers) {
      if (buffer) DefineMatched(*buffer);
    }
  }
  void DefineVarsOf(const tir::Block& block) {
    for (const tir::Buffer* buffer : block.alloc_buffers) CloneVar(buffer->data, /*define=*/true);
    for (const tir::MatchBufferRegion* match : block.match_buffers) DefineMatched(*match->buffer);
  }
  void DefineVarsOf(const tir::BufferRealize& realize) { CloneVar(realize.buffer->data, /*define=*/true); }
  void DefineVarsOf(const Node&) {}

  void DefineMatched(const tir::Buffer& buffer) {
    const auto define = [this](const PrimExpr* expr) {
      const auto* var = As<tir::Var>(expr);
      if (var && (options_.own_sym_vars || !var->context_owned())) CloneVar(var, /*define=*/true);
    };
    define(buffer.data);
    for (const PrimExpr* dim : buffer.shape) define(dim);
    for (const PrimExpr* stride : buffer.strides) define(stride);
    define(buffer.elem_offset);
  }

  // A buffer that is not declared in the code changes if a node that it refers to does.
  const Node* CloneBuffer(const tir::Buffer* buffer, bool define) {
    if (const Node* copy = Find(buffer)) return copy;
    tir::Buffer copy = *buffer;
    tir::Buffer::Fields()([&](auto... field) { (CloneField(copy.*(field.member), false), ...); });
    const bool same = !define && !options_.copy_free_vars && copy.data == buffer->data && copy.shape == buffer->shape &&
                      copy.strides == buffer->strides && copy.elem_offset == buffer->elem_offset &&
                      copy.layout == buffer->layout && copy.allocated_addr == buffer->allocated_addr;
    const tir::Buffer* result = buffer;
    if (!same) {
      copy.id = workspace_.NextVarId();
      if (options_.name_of) copy.name = NameOf(buffer, buffer->name);
      result = workspace_.New<tir::Buffer>(copy);
    }
    Remap(buffer, result);
    return result;
  }

  const PrimExpr* MapSymVar(const tir::Var* var) override {
    if (options_.own_sym_vars) return var;
    if (const Node* mapped = Find(var)) return static_cast<const PrimExpr*>(mapped);
    if (!options_.fresh_sym_vars || (var->flags & tir::Var::kIndexMapParam) != 0) return var;
    const tir::Var* fresh = IRContext::Current().NewSymVar(NameOf(var, var->name), var->dtype, var->is_size_var());
    Remap(var, fresh);
    return fresh;
  }
  const Expr* MapShapeVar(const Expr* var) override { return static_cast<const Expr*>(CloneNode(var)); }
  const PrimExpr* MapFuncExpr(const PrimExpr* expr) override { return static_cast<const PrimExpr*>(CloneNode(expr)); }

  Workspace& workspace_;
  CloneOptions options_;
  structural::VarTable<Copy> copies_;
  bool maps_sym_vars_ = false;
  LookupMap<const Node*, const Node*> shared_;
  int depth_ = 0;  // of nested Relax expressions
};

Cloner::Cloner(Workspace& workspace, CloneOptions options)
    : impl_(std::make_unique<Impl>(workspace, std::move(options))) {}
Cloner::~Cloner() = default;

void Cloner::Map(const Var* from, const Expr* to) { impl_->Remap(from, to); }
void Cloner::Map(const tir::Var* from, const PrimExpr* to) { impl_->Remap(from, to); }
void Cloner::Map(const tir::Buffer* from, const tir::Buffer* to) { impl_->Remap(from, to); }

const Node* Cloner::CloneNode(const Node* node) { return impl_->CloneNode(node); }
const Expr* Cloner::Clone(const Expr* expr) { return static_cast<const Expr*>(CloneNode(expr)); }
const PrimExpr* Cloner::Clone(const PrimExpr* expr) { return static_cast<const PrimExpr*>(CloneNode(expr)); }

const BaseFunc* CloneFunction(const BaseFunc* func, Workspace& workspace, CloneOptions options) {
  return Cloner(workspace, std::move(options)).Clone<BaseFunc>(func);
}

namespace {

// Copying is worth it if at least half of the memory is garbage. The constant excludes small functions.
bool IsMostlyGarbage(const FuncStorage& storage) {
  constexpr size_t kNotWorthIt = 64 * 1024;
  return storage.bytes() > 2 * storage.live_bytes + kNotWorthIt;
}

}  // namespace

void CompactStorage(Module& module, int threads) {
  std::vector<size_t> candidates;
  for (size_t i = 0; i < module.size(); ++i) {
    const ModuleEntry& entry = module.functions()[i];
    if (entry.storage && IsMostlyGarbage(*entry.storage)) candidates.push_back(i);
  }
  ParallelFor(candidates.size(), threads, [&](size_t i) {
    Workspace workspace(module);
    const BaseFunc* copy = CloneFunction(module.functions()[candidates[i]].func, workspace, {.copy_free_vars = true});
    module.SetAt(candidates[i], copy, workspace.Finish());
  });
}

}  // namespace iropt
