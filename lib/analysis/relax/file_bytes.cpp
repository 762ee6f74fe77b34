#include "iropt/analysis/relax/file_bytes.h"

#include <algorithm>

#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// Sizes of the messages of protobuf: each part has a tag and a length.
constexpr size_t kPart = 2;
constexpr size_t kShortName = 8;
constexpr size_t kNode = 3 * kPart + 2 * kShortName;
constexpr size_t kShortCall = kNode + 2 * (kPart + kShortName);

// The attributes of a node, as far as they are numbers of an operator, or operands that name and give them.
size_t AttributeBytes(const Call& call) {
  constexpr size_t kAttribute = 16;
  size_t bytes = 0;
  if (const auto* attrs = As<ObjectAttr>(call.attrs)) {
    for (const Attr* value : attrs->values) bytes += Is<IntAttr>(value) || Is<ListAttr>(value) ? kAttribute : 0;
  }
  for (const Expr* arg : call.args) {
    if (const auto* text = As<StringImm>(arg)) bytes += 2 * kPart + text->value.size();
  }
  return bytes;
}

struct FileBytes : WalkHandler {
  void OnConstant(const Constant& constant) {
    if (constants.insert(constant.data)) bytes += FileBytesOf(*constant.data);
  }
  void OnBinding(const Binding& binding) {
    const auto* named = As<VarBinding>(&binding);
    const auto* call = named ? As<Call>(named->value) : nullptr;
    if (call == nullptr) return;
    const SourceSpan place = Location(*call);
    if (place.known() && !places.insert(place.begin)) return;
    const auto operands = std::ranges::count_if(call->args, [](const Expr* arg) { return Is<Var>(arg); });
    // The node, its operator and its name; then the names of the result and the operands.
    const size_t name = kPart + std::min(named->var->name().size(), kMostOfName);
    bytes += kNode + AttributeBytes(*call) + (1 + static_cast<size_t>(operands)) * name;
    ++calls;
  }

  static constexpr size_t kMostOfName = 64;
  LookupSet<const NDArray*> constants;
  LookupSet<uint32_t> places;
  size_t bytes = 0;
  uint64_t calls = 0;
};

FileBytes Measure(const Module& module) {
  FileBytes all;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(*function, all);
  }
  return all;
}

// Integers may be listed as numbers of variable lengths.
size_t ListedBytes(const NDArray& constant) {
  constexpr size_t kMostCounted = size_t{1} << 16;
  if (constant.dtype() != DataType::Int(64) || constant.num_bytes() > kMostCounted || constant.source())
    return constant.num_bytes();
  size_t bytes = 0;
  for (const int64_t number : constant.As<int64_t>()) {
    auto rest = static_cast<uint64_t>(number);
    do ++bytes;
    while (rest >>= 7);
  }
  return std::min(bytes, constant.num_bytes());
}

}  // namespace

size_t FileBytesOf(const NDArray& constant) {
  const size_t name = constant.source() ? constant.source()->name.size() : kShortName;
  return ListedBytes(constant) + (4 + constant.shape().size()) * kPart + name;
}

size_t FileBytesOf(const Function& function) {
  FileBytes all;
  Walk(function, all);
  return all.bytes;
}

size_t FileBytesOf(const Module& module) { return Measure(module).bytes; }

size_t MostFileBytes(const Module& module, size_t growth, uint64_t nodes) {
  const FileBytes all = Measure(module);
  const size_t own = all.bytes + (nodes > all.calls ? static_cast<size_t>(nodes - all.calls) * kShortCall : 0);
  return own + growth + own / 150;
}

}  // namespace iropt
