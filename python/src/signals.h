// Signals, such as that of Ctrl-C, while the library works without the interpreter lock.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>

namespace iropt::python {

// Runs the handlers of signals now and then, as Python does between its instructions. What they raise is thrown.
class Signals {
 public:
  // Must be called without the lock.
  void Check() {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < kInterval) return;
    last_ = now;
    const pybind11::gil_scoped_acquire lock;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{20};

  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace iropt::python
