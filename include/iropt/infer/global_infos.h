// Names of the entries in a module's global infos.
#pragma once

#include <string_view>

#include "iropt/ir/module.h"

namespace iropt {

// "cuda:1" is the second device of that kind, "cuda" the first, "vdevice:1" the second of all; "cuda:1:global" counts
// the devices with that memory scope only. Null if the module, which may be null, has none. O(devices).
const VDeviceAttr* FindVDevice(const Module* module, std::string_view name);
// "mesh[1]" is the second of the list `mesh`.
const DeviceMeshAttr* FindDeviceMesh(const Module* module, std::string_view name);

}  // namespace iropt
