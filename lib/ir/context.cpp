#include "iropt/ir/context.h"

#include "context_impl.h"
#include "intern_expr.h"
#include "iropt/support/parallel.h"

namespace iropt {

namespace {

// Null stands for the process-wide context, so that threads that never set one need no setup.
constinit thread_local IRContext* current_context = nullptr;

IRContext& DefaultContext() {
  // Never destroyed: objects that are alive at exit may still refer to it.
  static IRContext& context = *new IRContext;
  return context;
}

void InheritCurrentContext() {
  RegisterThreadInherit({[]() -> void* { return current_context; },
                         [](void* context) { current_context = static_cast<IRContext*>(context); }});
}

}  // namespace

IRContext::Impl::Impl() {
  const std::array dtypes{DataType::Int(64), DataType::Int(32)};
  for (size_t row = 0; row < dtypes.size(); ++row) {
    auto* ints =
        static_cast<tir::IntImm*>(unshared_arena_.Allocate(kNumSmall * sizeof(tir::IntImm), alignof(tir::IntImm)));
    for (int64_t i = 0; i < kNumSmall; ++i) {
      SetDerived(new (ints + i) tir::IntImm(dtypes[row], kFirstSmall + i));
    }
    small_ints_[row] = ints;
  }
}

std::string_view IRContext::Impl::InternString(std::string_view text) {
  const auto equal = [&](const void* entry) { return *static_cast<const std::string_view*>(entry) == text; };
  const auto make = [&](Arena& arena) { return arena.New<std::string_view>(arena.CopyString(text)); };
  return *static_cast<const std::string_view*>(strings_.FindOrMake(HashString(text), equal, make));
}

const tir::PointerInfo* IRContext::Impl::MakePointerInfo(const tir::PointerInfo& key) {
  const uint64_t hash = HashCombine(HashCombine(HashString(key.scope), key.elem.raw()), key.nested);
  const auto equal = [&](const void* entry) {
    const auto& info = *static_cast<const tir::PointerInfo*>(entry);
    return info.elem == key.elem && info.scope == key.scope && info.nested == key.nested;
  };
  const auto make = [&](Arena& arena) {
    return arena.New<tir::PointerInfo>(key.elem, InternString(key.scope), key.nested);
  };
  return static_cast<const tir::PointerInfo*>(pointers_.FindOrMake(hash, equal, make));
}

const GlobalVar* IRContext::Impl::FindGlobalVar(std::string_view name) {
  const GlobalVar key(name, 0);
  const auto equal = [&](const void* entry) {
    const auto* node = static_cast<const Node*>(entry);
    return Is<GlobalVar>(node) && static_cast<const GlobalVar*>(node)->name == name;
  };
  return static_cast<const GlobalVar*>(nodes_.Find(node_hashing::Hash(key), equal));
}

const tir::Var* IRContext::Impl::NewSymVar(std::string_view name, DataType dtype, bool is_size_var, uint8_t flags) {
  const std::string_view own_name = InternString(name);
  const std::scoped_lock lock(unshared_mutex_);
  const uint32_t id = next_sym_var_id_.fetch_add(1, std::memory_order_relaxed);
  tir::Var* var = is_size_var ? unshared_arena_.New<tir::SizeVar>(own_name, dtype, id)
                              : unshared_arena_.New<tir::Var>(own_name, dtype, id);
  var->flags = uint8_t{tir::Var::kContextOwned} | PrimExpr::kInterned | PrimExpr::kHasSymVar | flags;
  return var;
}

const tir::Var* IRContext::Impl::IndexMapParam(size_t position, DataType dtype) {
  // A handful of dtypes, each with as many positions as an index map has dimensions.
  const std::scoped_lock lock(index_map_mutex_);
  size_t seen = 0;
  for (const tir::Var* param : index_map_params_) {
    if (param->dtype == dtype && seen++ == position) return param;
  }
  for (; seen <= position; ++seen) {
    index_map_params_.push_back(
        NewSymVar(std::string("i").append(std::to_string(seen)), dtype, false, tir::Var::kIndexMapParam));
  }
  return index_map_params_.back();
}

IRContext::IRContext() : impl_(std::make_shared<Impl>()) {}
IRContext::~IRContext() = default;

IRContext& IRContext::Current() { return current_context != nullptr ? *current_context : DefaultContext(); }

IRContext::Scope::Scope(IRContext& context) : previous_(current_context) {
  // Not earlier, because threads without it have the default context.
  InheritCurrentContext();
  current_context = &context;
}

IRContext::Scope::~Scope() { current_context = previous_; }

const tir::Var* IRContext::NewSymVar(std::string_view name, DataType dtype, bool is_size_var) {
  return impl_->NewSymVar(name, dtype, is_size_var);
}

uint32_t IRContext::num_sym_vars() const { return impl_->num_sym_vars(); }

const PrimExpr* IRContext::Intern(const PrimExpr* expr) { return expr->interned() ? expr : InternExpr(expr, *impl_); }

const tir::IntImm* IRContext::Int(int64_t value, DataType dtype) { return impl_->Int(value, dtype); }

std::string_view IRContext::InternString(std::string_view text) { return impl_->InternString(text); }

const GlobalVar* IRContext::FindGlobalVar(std::string_view name) { return impl_->FindGlobalVar(name); }

const GlobalVar* GlobalVar::Get(std::string_view name) { return IRContext::Current().impl().Make(GlobalVar(name, 0)); }

const tir::PointerInfo* tir::PointerInfo::Get(DataType elem, std::string_view scope) {
  return IRContext::Current().impl().MakePointerInfo({elem, scope, false});
}

}  // namespace iropt
