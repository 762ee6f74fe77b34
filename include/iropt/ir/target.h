// Targets: what a module is compiled for, in the spellings of TVM.
//
//   llvm -mcpu=skylake -num-cores=4                a kind and its options
//   cuda -arch=sm_80 -host='llvm -opt-level=2'     a text with spaces is put between single quotes
//   nvidia/geforce-rtx-3090                        a tag: the name of a device
//
// In a module, a target is a dictionary: T.target({"kind": "llvm", "keys": ["cpu"], "mcpu": "skylake", "tag": ""}).
//
// Source: the kinds, options, defaults and tags of TVM 0.18. One thing differs: what TVM asks the machine for, such as
// the triple of llvm, stays out of a target, so that results do not depend on the machine. Where TVM finds no GPU, it
// takes sm_50 for cuda and nvptx and gfx900 for rocm, and so do we.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/ir/attr.h"
#include "iropt/support/function_ref.h"

namespace iropt {

enum class TargetOptionType : uint8_t { Bool, Int, String, Strings, Target, Targets };

// An option of a kind of target; without a default, a target does not have it unless it is given.
struct TargetOption {
  std::string_view name;
  TargetOptionType type;
  std::string_view default_value = {};
};

struct TargetKind {
  std::string_view name;
  std::string_view device;             // of DLPack: cpu, cuda, ...
  std::vector<std::string_view> keys;  // that libraries of schedules look for
  std::vector<TargetOption> options;   // of this kind alone, by name
};

// A name for a target.
struct TargetTag {
  std::string_view name;
  std::string_view target;  // as ParseTarget takes it
};

// All kinds, the options that every kind has, and all tags, each in the order of the names.
std::span<const TargetKind> TargetKinds();
std::span<const TargetOption> CommonTargetOptions();
std::span<const TargetTag> TargetTags();
// Null if the kind is not known. O(log kinds).
const TargetKind* FindTargetKind(std::string_view name);

// Receives an error, and where in the text it is: the bytes from `begin` to before `end`.
using TargetErrors = FunctionRef<void(size_t begin, size_t end, std::string message)>;

// Reads a kind with options, or a tag. Reports the first error: an unknown kind or option, with the nearest one, an
// option that is given twice, a value of another type. Null then.
const TargetAttr* ParseTarget(std::string_view text, TargetErrors errors);

// A target in dictionary form, with the keys, the tag and the defaults that its kind has. Options that are not known,
// and those of an unknown kind, stay what they are: they may be of a newer TVM. Reports a kind that is missing or no
// string; null then. All of the errors are at byte 0.
const TargetAttr* TargetFromDict(const DictAttr* config, TargetErrors errors);

// The value of a target's "kind"; empty for null.
std::string_view TargetKindOf(const TargetAttr* target);

}  // namespace iropt
