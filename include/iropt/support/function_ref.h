// A non-owning reference to something callable: two words, no allocation. It must not outlive what it refers to, so it
// is for parameters, never for members.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace iropt {

template <class Signature>
class FunctionRef;

template <class R, class... Args>
class FunctionRef<R(Args...)> {
 public:
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, FunctionRef> && std::is_invocable_r_v<R, F&, Args...>)
      FunctionRef(F&& callable)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : invoke_(&Invoke<std::remove_reference_t<F>>) {
    if constexpr (std::is_function_v<std::remove_reference_t<F>>) {
      target_.function = reinterpret_cast<void (*)()>(&callable);
    } else {
      target_.object = const_cast<void*>(static_cast<const void*>(std::addressof(callable)));
    }
  }

  R operator()(Args... args) const { return invoke_(target_, std::forward<Args>(args)...); }

 private:
  union Target {
    void* object;
    void (*function)();
  };

  template <class F>
  static R Invoke(Target target, Args... args) {
    if constexpr (std::is_function_v<F>) {
      return static_cast<R>(reinterpret_cast<F*>(target.function)(std::forward<Args>(args)...));
    } else {
      return static_cast<R>((*static_cast<F*>(target.object))(std::forward<Args>(args)...));
    }
  }

  Target target_;
  R (*invoke_)(Target, Args...);
};

}  // namespace iropt
