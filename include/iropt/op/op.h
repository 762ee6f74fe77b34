// The operator table: the facts about every primitive operator. The rows come from ops.def (Relax) and intrinsics.def
// (TIR); see there for the columns.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iropt/op/op_id.h"
#include "iropt/support/text_version.h"

namespace iropt {

class InferContext;
class LegalizeCall;  // legalize/legalize.h
class NDArray;
struct EvalLimits;
struct HostValue;
struct IntrinsicInfo;  // op/intrinsics.h
template <class T>
class Result;

// The kind of an operand, which decides the literals that the reader converts to it.
enum class ArgKind : uint8_t {
  kExpr,       // any Relax expression
  kTensor,     // numbers stand for a PrimValue
  kScalar,     // a tensor for which a number stands for a constant of rank 0
  kShape,      // [1, n], (1, n) and R.shape([1, n]) make a ShapeExpr
  kPrimValue,  // 3, n + 1, 0.5 make a PrimValue
  kTuple,      // (a, b) and [a, b] make a Tuple
  kCallArgs,   // as kTuple; a single expression that is not a tuple stands for a tuple of that one
  kString,     // "x" makes a StringImm
  kDataType,   // "float32" makes a DataTypeImm
  kFunc,       // cls.f, "packed.name" (an ExternFunc)
};

// The operand of the call if the script gives none, or None.
enum class ArgAbsence : uint8_t {
  kRequired,  // it must be given, or the parameter has another default
  kOmitted,   // nothing: the call has fewer operands
  kVoid,      // an empty tuple
};

struct OpArg {
  std::string_view name;        // of the parameter of the script function
  std::string_view registered;  // TVM's name of the operand, which may be another
  ArgKind kind;
  ArgAbsence absence = ArgAbsence::kRequired;
  uint8_t copies = 0;    // of a shape: one number stands for a shape of that many
  bool keyword = false;  // printed as name=value after the attributes
  // The first and the last version of TVM that has the operand; no last one if the newest has it. An operand that came
  // later may be missing, and is if it has its default.
  TextVersion since = TextVersion::kV0_18;
  std::optional<TextVersion> until = {};
  // Since this version, the operand is not one, but an attribute of the same name: a number, which stands at the place
  // `attr_place` of the record.
  std::optional<TextVersion> attr_since = {};
  uint8_t attr_place = 0;
};

// The type of an attribute in TVM's record, which decides conversion from literals, the node that holds the value, and
// the printed form. An optional attribute that is absent is a NoneAttr.
enum class AttrKind : uint8_t {
  kBool,        // IntAttr of dtype bool
  kInt,         // IntAttr of dtype int64
  kDouble,      // FloatAttr of dtype float64
  kString,      // StrAttr
  kDataType,    // DTypeAttr; None is void
  kIntList,     // ListAttr of IntAttr
  kFloatList,   // ListAttr of FloatAttr of dtype float32
  kDoubleList,  // ListAttr of FloatAttr of dtype float64
  kStringList,  // ListAttr of StrAttr
  kOptInt,
  kOptFloat,  // FloatAttr of dtype float32, or of the dtype that T.float16(...) names
  kOptString,
  kOptIntList,
  kOptBool,
  kIntOrIntList,  // IntAttr or ListAttr of IntAttr
  kOptPrimValue,  // ExprAttr; printed as R.prim_value(...)
  kIndexMap,      // IndexMapAttr
  kVDevice,       // VDeviceAttr; "cuda:0" and "cuda" name one of the module
  kDeviceMesh,    // DeviceMeshAttr; "mesh[0]" names one of the module, and is how it is printed
  kPlacement,     // StrAttr, "S[0], R"
  kDict,          // DictAttr; not printed if empty
};

// The default of a parameter of a script function.
struct OpDefault {
  enum class Kind : uint8_t { kRequired, kNone, kBool, kInt, kFloat, kString, kSameAs };
  Kind kind = Kind::kRequired;
  int64_t integer = 0;    // kBool, kInt
  double real = 0;        // kFloat
  std::string_view text;  // kString; the name of another parameter for kSameAs

  static constexpr OpDefault None() { return {Kind::kNone, 0, 0, {}}; }
  static constexpr OpDefault Bool(bool v) { return {Kind::kBool, v, 0, {}}; }
  static constexpr OpDefault Int(int64_t v) { return {Kind::kInt, v, 0, {}}; }
  static constexpr OpDefault Float(double v) { return {Kind::kFloat, 0, v, {}}; }
  static constexpr OpDefault String(std::string_view v) { return {Kind::kString, 0, 0, v}; }
};

struct OpAttr {
  std::string_view name;
  AttrKind kind;
  OpDefault fallback;
  // Of lists: a single number (or a list of one) stands for that many copies. 0: for a list of one.
  uint8_t copies = 0;
  // Of lists with `copies` = 2 n: n numbers stand for the list that repeats them, as in padding of all sides.
  bool padding = false;
  // The first and the last version of TVM that has the attribute; no last one if the newest has it. The default is what
  // versions without the attribute do.
  TextVersion since = TextVersion::kV0_18;
  std::optional<TextVersion> until = {};
  // Since this version it has another name.
  std::optional<TextVersion> renamed_since = {};
  std::string_view renamed = {};
  // The script function has no parameter for it: its default is not printed.
  bool unwritten = false;
};

// A parameter of the script function R.op(...), in the order of the signature.
struct OpParam {
  enum class Role : uint8_t {
    kArg,          // operand `index`
    kAttr,         // attribute `index`
    kResultTypes,  // the explicit result types
    kDevice,       // a device, R.device(...), whose type and number fill the first two attributes
    kExtra,        // one more operand, which makes it a call of the operator `extended`
  };
  std::string_view name;
  Role role = Role::kArg;
  uint8_t index = 0;
  bool rest = false;          // takes all further positional arguments
  bool keyword_only = false;  // comes after a parameter that takes the rest
  OpDefault fallback;

  bool required() const { return fallback.kind == OpDefault::Kind::kRequired && !rest; }
};

enum class MixedPrecision : uint8_t { kAlways, kFollow, kNever };

// TVM's OpPatternKind, for fusion.
enum class OpPattern : uint8_t {
  kElemWise = 0,
  kBroadcast = 1,
  kInjective = 2,
  kCommReduce = 3,
  kOutEWiseFusable = 4,
  kTuple = 7,
  kOpaque = 8
};

// The syntax of a call. All forms have the operands first (see OpInfo::arg_order), then the attributes as name=value in
// the order of the record, then the operands that are `keyword`.
enum class ScriptForm : uint8_t {
  kDefault,   // explicit result types last, as sinfo_args=(...,)
  kOutTypes,  // one explicit result type, as out_sinfo= before the attributes; a tuple type is written as a list of
              // types
  kDevice,  // the first two attributes as a positional operand R.device(dev_type=1, dev_id=0), then the others, without
            // their names
  kVDevice,  // the attribute as dst_vdevice="kind:index", where index counts the module's devices of that kind
};

// The functions of an operator that is not in the tables. Those of the tables stand in their columns.
struct OpFunctions {
  // The type of a call whose operands have types, as TypeRule of infer/type_rules.h.
  const Type* (*infer)(const Call& call, InferContext& ctx) = nullptr;
  // The value of a call, as EvalOp of eval/evaluator.h; null if none can be computed.
  Result<HostValue> (*evaluate)(const Attr* attrs, std::span<const HostValue> args, const EvalLimits& limits) = nullptr;
  // The expression that replaces a call with known shapes, as LegalizeFn of legalize/legalize.h; null if there is none.
  const Expr* (*legalize)(LegalizeCall& call) = nullptr;
};

struct OpInfo {
  std::string_view name;    // "relax.nn.conv2d", "tir.exp"
  std::string_view script;  // "R.nn.conv2d", "T.exp"
  std::span<const OpArg> args;
  bool variadic = false;  // the last operand repeats, zero or more times
  // If a call is not written with its operands in order: operand arg_order[i] is written at position i. Else empty.
  std::span<const uint8_t> arg_order;
  std::string_view attrs_key;               // type key of the attribute record; empty if the operator has none
  std::span<const OpAttr> attrs;            // in printing order
  std::span<const OpParam> params;          // of the script function, in order
  TextVersion since = TextVersion::kV0_18;  // the first version of TVM that has the operator
  bool pure = true;
  MixedPrecision mixed_precision = MixedPrecision::kNever;
  OpPattern pattern = OpPattern::kOpaque;
  ScriptForm form = ScriptForm::kDefault;
  std::string_view extended;  // the name of the operator that a parameter of role kExtra selects; or empty
  std::string_view packed;    // the packed function that a virtual machine calls for it, "relax.run.print"; or empty
  // The axes of data, weight and result if a user can choose their layouts (for ConvertLayout): a choice has the same
  // axes in another order, and the first `required_layouts` of them must be given. Else empty.
  std::span<const std::string_view> layout_axes;
  size_t required_layouts = 0;
  bool tvm_lacks_layout = false;             // TVM 0.18 has a layout rule, but fails at every call of the operator
  const IntrinsicInfo* intrinsic = nullptr;  // of TIR operators only
  OpFunctions functions;                     // of an operator that is not in the tables
  OpId id{};
  uint16_t row = kNoRow;   // the place among the rows of ops.def; kNoRow for intrinsics and operators that were added
  const Op* op = nullptr;  // the only node of this operator

  static constexpr uint16_t kNoRow = UINT16_MAX;

  bool is_graph_level() const { return intrinsic == nullptr; }
  // Null if there is none.
  const OpAttr* FindAttr(std::string_view attr_name) const;
};

// An operator of Relax that is not in ops.def, such as one of a plugin.
struct OpSpec {
  std::string_view name;  // after "R." in scripts: "my_company.scale", in which there is a dot
  std::vector<OpArg> args = {};
  std::vector<OpAttr> attrs = {};  // without `fallback`, an attribute must be given
  OpFunctions functions = {};      // `infer` must be there
  bool pure = true;
  MixedPrecision mixed_precision = MixedPrecision::kNever;
  OpPattern pattern = OpPattern::kOpaque;
};

// The reason why the operator cannot be added; empty if it can, or was added already.
std::string RefusalOf(const OpSpec& spec);
// Adds an operator for the rest of the process; the texts are copied. Nothing happens if it was added already. Not
// while another thread uses operators.
const OpInfo& AddOp(const OpSpec& spec);

// All rows: those of intrinsics.def, then those of ops.def. The table is built once, on first use, and never changes.
// Operators that were added are not among them.
std::span<const OpInfo> AllOps();
// O(1).
const OpInfo& OpInfoOf(OpId id);
// The only node of the operator. O(1).
const Op* GetOp(OpId id);
// The entry of a table with one for each row of ops.def, in the same order; null for an operator without a row. O(1).
template <class Entry, size_t kNumEntries>
constexpr const Entry* EntryOf(const OpInfo& op, const Entry (&table)[kNumEntries]) {
  return op.row < kNumEntries ? &table[op.row] : nullptr;
}
// The operators that were added, in that order.
const std::deque<OpInfo>& AddedOps();
// Finds an operator by full name ("relax.add", "tir.exp"); null if there is none. O(1).
const OpInfo* FindOp(std::string_view name);
// Finds an operator by the name after "R." or "T." in scripts, aliases included; null if there is none. O(1).
const OpInfo* FindGraphOpByScript(std::string_view name);
const OpInfo* FindIntrinsicByScript(std::string_view name);
// The script name of a graph operator that is closest to a misspelled one; empty if none is close.
std::string_view NearestGraphOpScript(std::string_view name);
// The node of an operator that must exist, for readers of text. C++ code names operators by OpId.
const Op* GetOp(std::string_view name);

// True if evaluating the expression can have an effect beyond its value: a call of an impure operator or of an impure
// function (by the type of the callee). Only the outermost call counts.
bool IsImpureCall(const Expr* value, const class Module* module);

}  // namespace iropt
