// The description of a pass for the pass manager.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/pass/option_value.h"
#include "iropt/pass/property.h"

namespace iropt {

struct AnalysisKind;
class NDArray;

enum class PassKind : uint8_t {
  Module,
  Function,
  DataflowBlock,
  PrimFunc,
  Sequential,  // this and the next two run other passes
  Fixpoint,
  Repeat,
};

std::string_view PassKindName(PassKind kind);

// The highest level of a context.
inline constexpr int kMaxOptLevel = 4;
// The level of a Sequential for which none was set: below every level of a context.
inline constexpr int kNoOptLevel = std::numeric_limits<int>::min();

// A change of public functions that a pass makes on purpose. Checks that compare values before and after the pass take
// it into account; see docs/semantic_check.md.
enum class PassChange : uint8_t {
  Symbols,         // functions get other symbols, with their old name at the end
  Precision,       // floats may be computed, and passed as parameters, in a narrower format
  Rounding,        // quantized tensors are computed with other roundings
  Inference,       // operators compute what they do in inference rather than in training
  NonFinite,       // results of operands with infinities or NaNs may differ
  BoundParams,     // parameters are replaced by constants, see PassInfo::bound_tensors
  ParamTypes,      // the types of parameters are narrowed or widened
  BundledParams,   // parameters become fields of tuples, in the same order
  LiftedWeights,   // parameters are results of a transform function, as LiftTransformParams makes it
  InputCallback,   // parameters are fetched from a callback, as LazyGetInput does
  OutputCallback,  // results are passed to a callback, as LazySetOutput does
  CallingConv,     // functions are called by another convention, as MakePackedAPI does
};

// A tensor that a pass binds to a parameter.
struct BoundTensor {
  std::string param;
  std::shared_ptr<const NDArray> tensor;
};

struct PassInfo {
  std::string name;
  int opt_level = 0;                       // the lowest level of a context at which a Sequential runs the pass
  std::vector<std::string> required = {};  // passes that a Sequential runs before this one
  bool traceable = false;                  // for tools that record passes; the pass manager ignores it
  std::vector<const AnalysisKind*> preserved_analyses = {};  // see analysis.h
  std::vector<PassChange> changes = {};
  // With PassChange::BoundParams: the tensors by parameter. May read files; empty if that fails.
  std::function<std::vector<BoundTensor>()> bound_tensors = {};
  // Properties of PrimFuncs that the pass requires, that it establishes, and that it may break; see property.h.
  FunctionProperties required_properties = {};
  std::vector<EstablishedProperty> established_properties = {};
  FunctionProperties broken_properties = {};
  bool is_serial = false;        // its functions are not rewritten by several threads at a time
  bool is_mandatory = false;     // later passes may need it: a bisection does not skip it
  bool counts_rewrites = false;  // asks before each rewrite, see ir/rewrite_limit.h
  // Signed integers of loops that overflow may have other values afterwards: as in C, they are undefined.
  bool assumes_no_overflow = false;
  PassKind kind = PassKind::Module;
  OptionValue::Dict options = {};  // those that it was created with by name

  bool is_composite() const { return kind >= PassKind::Sequential; }
};

}  // namespace iropt
