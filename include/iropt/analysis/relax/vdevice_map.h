// Which virtual devices the tensors of a module are on.
#pragma once

#include <cstdint>
#include <vector>

#include "iropt/diag/diagnostic.h"
#include "iropt/ir/module.h"

namespace iropt {

// The virtual devices that R.device(dev_type, dev_id) can mean.
class VDeviceLookup {
 public:
  explicit VDeviceLookup(const Module& module);
  // The device that a call of hint_on_device names; null where the module has no such.
  const VDeviceAttr* Of(const Call& hint) const;

 private:
  std::vector<const VDeviceAttr*> devices_;
};

// What is known of the variables of a module: what types say, what hint_on_device says of its result, and, where
// nothing else is known, of its operand. Tensors that an operation has to do with are on one device; only
// hint_on_device and to_vdevice change it, and a tuple may have items on several. A call of a function of the module
// puts the parameters where the operands are. Where two devices are possible, the one that is fewer operations away
// counts. O(nodes).
class VDeviceMap {
 public:
  explicit VDeviceMap(const Module& module);

  // Of a variable of the function at that place of the module; null where none is known.
  const VDeviceAttr* Of(size_t function, const Var* var) const { return devices_[offsets_[function] + var->id]; }
  // Hints that no device fits.
  const std::vector<const Call*>& unknown_hints() const { return unknown_hints_; }

 private:
  class Collector;
  struct Seed {
    uint32_t node;
    const VDeviceAttr* device;
  };

  void Propagate(const std::vector<Seed>& seeds);

  std::vector<uint32_t> offsets_;            // by place of a function: the node of its variable 0
  std::vector<const VDeviceAttr*> devices_;  // by node
  // The neighbours of a node n are targets_[starts_[n]] to targets_[starts_[n + 1] - 1].
  std::vector<uint32_t> starts_;
  std::vector<uint32_t> targets_;
  std::vector<const Call*> unknown_hints_;
};

}  // namespace iropt
