#include "call_order.h"

#include "iropt/analysis/called_functions.h"

namespace iropt {

namespace {

struct Frame {
  size_t function;
  CalledFunctions::Result callees;
  size_t next = 0;
};

}  // namespace

std::vector<size_t> CalleesFirst(const Module& module) {
  std::vector<size_t> order;
  std::vector<bool> seen(module.size());
  std::vector<Frame> stack;
  const auto enter = [&](size_t i) {
    const ModuleEntry& entry = module.functions()[i];
    if (seen[i] || !Is<Function>(entry.func)) return;
    seen[i] = true;
    stack.push_back({i, CalledFunctions::Compute(*entry.func, *entry.storage)});
  };
  for (size_t i = 0; i < module.size(); ++i) {
    enter(i);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.callees.size()) {
        order.push_back(frame.function);
        stack.pop_back();
        continue;
      }
      const int callee = module.IndexOf(frame.callees[frame.next++]);
      if (callee >= 0) enter(static_cast<size_t>(callee));
    }
  }
  return order;
}

}  // namespace iropt
