#include "intern_expr.h"

#include "context_impl.h"
#include "iropt/support/lookup.h"
#include "iropt/support/stack.h"

namespace iropt {

namespace {

// Kinds that refer to buffers and other parts of functions, which no context owns.
template <class X>
constexpr bool kIsFuncOnly =
    std::is_same_v<X, tir::BufferLoad> || std::is_same_v<X, tir::ProducerLoad> || std::is_same_v<X, tir::Reduce>;

// Most expressions need only a few steps; a table of the nodes seen, so that nodes with many parents are visited once,
// pays only for bigger ones.
constexpr int kStepsWithoutMemo = 64;

class ExprInterner {
 public:
  explicit ExprInterner(IRContext::Impl& context) : context_(context) {}

  const PrimExpr* Intern(const PrimExpr* expr) {
    if (expr == nullptr || expr->interned()) return expr;
    if (++steps_ <= kStepsWithoutMemo) return WithStack([&] { return InternNode(expr); });
    if (const auto* found = memo_.Find(expr)) return *found;
    const PrimExpr* interned = WithStack([&] { return InternNode(expr); });
    memo_.try_emplace(expr, interned);
    return interned;
  }

 private:
  const PrimExpr* InternNode(const PrimExpr* expr) {
    return DispatchIn<NodeGroup::kPrim>(expr, [this](const auto* node) { return InternOne(node); });
  }

  template <class X>
  const PrimExpr* InternOne(const X* node) {
    if constexpr (std::is_base_of_v<tir::Var, X>) {
      IROPT_UNREACHABLE("variable {} of a function in an interned expression", node->name);
    } else if constexpr (kIsFuncOnly<X>) {
      IROPT_UNREACHABLE("{} in an interned expression", NodeKindName(node->kind));
    } else if constexpr (std::is_same_v<X, tir::IntImm>) {
      return context_.Int(node->value, node->dtype);
    } else {
      return InternFields(*node);
    }
  }

  template <class X>
  const PrimExpr* InternFields(X key) {
    std::vector<const PrimExpr*> items;
    const auto intern = [&]<class T>(T& value) {
      if constexpr (std::is_same_v<T, List<const PrimExpr*>>) {
        const size_t first = items.size();
        for (const PrimExpr* item : value) items.push_back(Intern(item));
        value = T(items.data() + first, value.size());
      } else if constexpr (std::is_convertible_v<T, const PrimExpr*>) {
        value = static_cast<T>(Intern(value));
      }
    };
    items.reserve(CountItems(key));  // so that the lists made on the way do not move
    X::Fields()([&](auto... field) { (intern(key.*(field.member)), ...); });
    return context_.Make(key);
  }

  template <class X>
  static size_t CountItems(const X& node) {
    size_t count = 0;
    ForEachField(&node, [&](auto, const auto& value) {
      if constexpr (node_hashing::IsList<std::remove_cvref_t<decltype(value)>>::value) count += value.size();
    });
    return count;
  }

  IRContext::Impl& context_;
  int steps_ = 0;
  LookupMap<const PrimExpr*, const PrimExpr*> memo_;
};

class InternCheck {
 public:
  bool Check(const PrimExpr* expr) {
    if (expr == nullptr || expr->interned()) return true;
    // A node that was seen is either fine or has ended the check.
    if (++steps_ > kStepsWithoutMemo && !seen_.try_emplace(expr, true).second) return true;
    return WithStack([&] { return CheckNode(expr); });
  }

 private:
  bool CheckNode(const PrimExpr* expr) {
    return DispatchIn<NodeGroup::kPrim>(expr, [this](const auto* node) { return CheckFields(node); });
  }

  template <class X>
  bool CheckFields(const X* node) {
    if constexpr (std::is_base_of_v<tir::Var, X> || kIsFuncOnly<X>) {
      return false;
    } else {
      bool ok = true;
      ForEachField(node, [&](auto, const auto& value) { ok = ok && CheckField(value); });
      return ok;
    }
  }

  template <class T>
  bool CheckField(const T& value) {
    if constexpr (std::is_same_v<T, List<const PrimExpr*>>) {
      for (const PrimExpr* item : value) {
        if (!Check(item)) return false;
      }
      return true;
    } else if constexpr (std::is_convertible_v<T, const PrimExpr*>) {
      return Check(value);
    } else {
      return true;
    }
  }

  int steps_ = 0;
  LookupMap<const PrimExpr*, bool> seen_;
};

}  // namespace

const PrimExpr* InternExpr(const PrimExpr* expr, IRContext::Impl& context) {
  return ExprInterner(context).Intern(expr);
}

bool IRContext::CanIntern(const PrimExpr* expr) { return InternCheck().Check(expr); }

}  // namespace iropt
