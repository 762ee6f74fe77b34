// A thread-local pointer that the threads of parallel loops take over from the thread that started the loop.
#pragma once

#include <utility>

#include "iropt/support/parallel.h"

namespace iropt {

template <class T>
class Inherited {
 public:
  static T* Current() { return current; }
  // The value before.
  static T* Exchange(T* value) {
    static const bool registered = [] {
      RegisterThreadInherit({[]() -> void* { return current; }, [](void* saved) { current = static_cast<T*>(saved); }});
      return true;
    }();
    static_cast<void>(registered);
    return std::exchange(current, value);
  }

  // Sets what Exchange has returned in the same thread.
  static void Restore(T* value) noexcept { current = value; }

 private:
  static inline thread_local T* current = nullptr;
};

}  // namespace iropt
