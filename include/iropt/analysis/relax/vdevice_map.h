// The virtual devices of the tensors of a module.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The virtual devices that R.device(dev_type, dev_id) can refer to.
class VDeviceLookup {
 public:
  explicit VDeviceLookup(const Module& module);
  // The device that a call of hint_on_device names; null if the module has no such device.
  const VDeviceAttr* Of(const Call& hint) const;

 private:
  std::vector<const VDeviceAttr*> devices_;
};

// Propagates virtual devices to the variables of a module, from types, from the results of hint_on_device and, if
// nothing else is known, from its operands. The operands and the result of an operation are on one device; only
// hint_on_device and to_vdevice change it, and the items of a tuple may be on several. A call of a function of the
// module puts the parameters on the devices of the operands. Of two possible devices, the one that is fewer operations
// away is chosen. O(nodes).
class VDeviceMap {
 public:
  explicit VDeviceMap(const Module& module);

  // The device of a variable of the function with this index in the module; null if none is known.
  const VDeviceAttr* Of(size_t function, const Var* var) const { return devices_[offsets_[function] + var->id]; }
  // Hints that name no device of the module.
  const std::vector<const Call*>& unknown_hints() const { return unknown_hints_; }

 private:
  class Collector;
  struct Seed {
    uint32_t node;
    const VDeviceAttr* device;
  };

  void Propagate(const std::vector<Seed>& seeds);

  std::vector<uint32_t> offsets_;            // by index of a function: the node of its variable 0
  std::vector<const VDeviceAttr*> devices_;  // by node
  // The neighbours of a node n are targets_[starts_[n]] to targets_[starts_[n + 1] - 1].
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> targets_;
  std::vector<const Call*> unknown_hints_;
};

}  // namespace iropt
