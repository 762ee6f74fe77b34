#include "texture_scopes.h"

#include <algorithm>
#include <utility>

#include "iropt/analysis/tir/op_pattern.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/op/op.h"
#include "iropt/op/ops/call_tir.h"

namespace iropt {

namespace {

int64_t IntOption(const DictAttr& target, std::string_view name, int64_t default_value) {
  const auto* value = As<IntAttr>(target.Find(name));
  return value ? value->value : default_value;
}

// The scope of a tensor in a texture: tensors of five dimensions, the last of which is 4, fit.
std::string_view TextureScope(const TensorType& type, const TextureLimits& limits) {
  const int64_t* vector = type.dims.size() == 5 ? arith::AsInt(type.dims[4]) : nullptr;
  if (!vector || *vector != 4) return kPlainScope;
  int64_t n[4];
  for (uint32_t i = 0; i < 4; ++i) {
    const int64_t* size = arith::AsInt(type.dims[i]);
    if (!size) return "global.texture-nchw";
    n[i] = *size;
  }
  // In floating point, as products of sizes may be too great for an integer.
  const auto below = [](std::initializer_list<int64_t> sizes, int64_t limit) {
    double product = 1;
    for (const int64_t size : sizes) product *= static_cast<double>(size);
    return product < static_cast<double>(limit);
  };
  if (below({n[0]}, limits.spatial) && below({n[1], n[2], n[3]}, limits.spatial)) return "global.texture-weight";
  if (below({n[0]}, limits.depth) && below({n[1]}, limits.spatial) && below({n[2], n[3]}, limits.spatial))
    return "global.texture-nhwc";
  if (below({n[0], n[1]}, limits.depth) && below({n[2]}, limits.spatial) && below({n[3]}, limits.spatial))
    return "global.texture";
  return kPlainScope;
}

std::string_view TextOf(const ObjectAttr& attrs, std::string_view name) {
  const auto* text = As<StrAttr>(attrs.Find(name));
  return text ? text->value : std::string_view();
}

// Operands that may be in textures: the first one, and the others.
struct TextureUse {
  bool first = false;
  bool others = false;
};

TextureUse UseOf(const Attr* attr) {
  const auto* attrs = As<ObjectAttr>(attr);
  if (!attrs) return {};
  const std::string_view key = attrs->type_key;
  if (key == "relax.attrs.Conv2DAttrs") {
    // The schedules of TVM read the weights from plain memory.
    const bool fits = TextOf(*attrs, "data_layout") == "NCHW4c" && TextOf(*attrs, "kernel_layout") == "OIHW4o";
    return {.first = fits, .others = false};
  }
  const bool is_pool = key == "relax.attrs.Pool2DAttrs" || key == "relax.attrs.AdaptivePool2DAttrs";
  const bool fits = key == "relax.attrs.LayerNormAttrs" || (is_pool && TextOf(*attrs, "layout") == "NCHW4c");
  return {.first = fits, .others = fits};
}

TextureUse UseOf(const PrimFunc& func) {
  if (AnnotatedOpPattern(func) < OpPattern::kCommReduce) return {.first = true, .others = true};
  const Attr* attrs = func.attrs->Find(attr::kOpAttrs);
  const auto* list = As<ListAttr>(attrs);
  if (!list) return UseOf(attrs);
  for (const Attr* one : list->values) {
    const TextureUse use = UseOf(one);
    if (use.first) return use;
  }
  return {};
}

}  // namespace

TextureLimits::TextureLimits(const DictAttr& target)
    : spatial(IntOption(target, "texture_spatial_limit", 16384)),
      depth(IntOption(target, "texture_depth_limit", 2048)) {}

std::span<const Expr* const> ScopedOperands(const Call& call) {
  if (!IsOp(call.op, op::kCallTir)) return call.args.span();
  const auto* args = As<Tuple>(call.args[1]);
  return args ? args->fields.span() : std::span<const Expr* const>();
}

class TextureScopes::Collector : public WalkHandler {
 public:
  Collector(const Module& module, const TextureLimits& limits, TextureScopes& scopes)
      : module_(module), limits_(limits), scopes_(scopes) {}

  void OnBinding(const Binding& binding) {
    const Expr* value = ValueOf(&binding);
    if (const auto* call = As<Call>(value)) AddCall(*call, binding.var);
    if (const auto* tuple = As<Tuple>(value)) tuples_[binding.var] = tuple;
    const auto* item = As<TupleGetItem>(value);
    const auto tuple = item ? tuples_.find(item->tuple) : tuples_.end();
    if (tuple == tuples_.end()) return;
    items_.emplace_back(binding.var, tuple->second->fields[static_cast<uint32_t>(item->index)]);
  }

  void Finish() {
    // The scopes that are wanted of an item of a tuple are wanted of the field.
    for (const auto& [item, field] : items_) {
      const auto* wanted = scopes_.wanted_.Find(item);
      if (!wanted) continue;
      for (const std::string_view scope : std::vector(*wanted)) Want(field, scope);
    }
    for (CallScopes& call : scopes_.calls_) {
      const auto* wanted = scopes_.wanted_.Find(call.var);
      if (wanted) call.result = wanted->back();
    }
  }

 private:
  void AddCall(const Call& call, const Var* var) {
    const bool is_call_tir = IsOp(call.op, op::kCallTir);
    // Results of some operators are where their attributes or type arguments say.
    const auto* op = As<Op>(call.op);
    const bool is_free = op && op->info->form == ScriptForm::kDefault && !call.type_args;
    if ((!is_free && !is_call_tir) || !IsTensors(call.type)) return;
    const TextureUse use = is_call_tir ? UseOfCallee(call) : UseOf(call.attrs);
    CallScopes scopes{.call = &call, .var = var};
    for (const Expr* operand : ScopedOperands(call)) {
      const bool in_texture = scopes.operands.empty() ? use.first : use.others;
      const auto* type = As<TensorType>(operand->type);
      scopes.operands.push_back(!type ? std::string_view() : in_texture ? TextureScope(*type, limits_) : kPlainScope);
      if (type) Want(operand, scopes.operands.back());
    }
    scopes_.by_call_.try_emplace(&call, scopes_.calls_.size());
    scopes_.calls_.push_back(std::move(scopes));
  }

  // Returns whether it is the type of a tensor of known shape, or of a tuple of such.
  static bool IsTensors(const Type* type) {
    const auto is_tensor = [](const Type* t) { return Is<TensorType>(t) && static_cast<const TensorType*>(t)->known; };
    const auto* tuple = As<TupleType>(type);
    return tuple ? !tuple->fields.empty() && std::ranges::all_of(tuple->fields, is_tensor) : is_tensor(type);
  }

  TextureUse UseOfCallee(const Call& call) const {
    const auto* name = As<GlobalVar>(call.args[0]);
    const ModuleEntry* callee = name ? module_.Find(name) : nullptr;
    const auto* func = callee ? As<PrimFunc>(callee->func) : nullptr;
    return func ? UseOf(*func) : TextureUse{};
  }

  void Want(const Expr* operand, std::string_view scope) {
    const auto* var = As<Var>(operand);
    if (!var) return;
    std::vector<std::string_view>& wanted = scopes_.wanted_[var];
    if (std::ranges::find(wanted, scope) == wanted.end()) wanted.push_back(scope);
  }

  const Module& module_;
  const TextureLimits& limits_;
  TextureScopes& scopes_;
  std::unordered_map<const Expr*, const Tuple*> tuples_;   // by the variable
  std::vector<std::pair<const Var*, const Expr*>> items_;  // and the fields that they are
};

TextureScopes::TextureScopes(const Module& module, const Function& function, const TextureLimits& limits) {
  Collector collector(module, limits, *this);
  Walk(function, collector);
  collector.Finish();
}

const TextureScopes::CallScopes* TextureScopes::Find(const Call* call) const {
  const auto* found = by_call_.Find(call);
  return !found ? nullptr : &calls_[*found];
}

std::string_view TextureScopes::First(const Var* var) const {
  const auto* found = wanted_.Find(var);
  return found ? found->front() : std::string_view();
}

}  // namespace iropt
