#include "iropt/analysis/relax/file_bytes.h"

#include <algorithm>
#include <utility>

#include "iropt/diag/joint_spans.h"
#include "iropt/ir/location.h"
#include "iropt/ir/relax/walk.h"
#include "iropt/support/lookup.h"

namespace iropt {

namespace {

// Sizes of the messages of protobuf: each part has a tag and a length.
constexpr size_t kPart = 2;
constexpr size_t kShortName = 8;
constexpr size_t kNode = 3 * kPart;

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
    const auto operands = std::ranges::count_if(call->args, [](const Expr* arg) { return Is<Var>(arg); });
    const size_t name = kPart + std::min(named->var->name().size(), kMostOfName);
    bool is_first = true;
    for (const SourceSpan place : PartsOf(Location(*call))) {
      if (place.known() && !places.insert(place.begin)) continue;
      // The node, its operator and its name, which its place has; then the names of the result and the operands.
      const size_t own = std::clamp<size_t>(place.end - place.begin, 2 * kShortName, kMostOfName);
      bytes += kNode + own + 2 * name;
      if (!std::exchange(is_first, false)) continue;
      bytes += AttributeBytes(*call) + static_cast<size_t>(operands) * name - name;
    }
  }

  static constexpr size_t kMostOfName = 64;
  LookupSet<const NDArray*> constants;
  LookupSet<uint32_t> places;
  size_t bytes = 0;
};

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

size_t FileBytesOf(const Module& module) {
  FileBytes all;
  for (const ModuleEntry& entry : module.functions()) {
    if (const auto* function = As<Function>(entry.func)) Walk(*function, all);
  }
  return all.bytes;
}

size_t MostFileBytes(const Module& module, size_t growth, uint64_t left_out) {
  const size_t own = FileBytesOf(module) + static_cast<size_t>(left_out);
  return own + growth + own / 150;
}

}  // namespace iropt
