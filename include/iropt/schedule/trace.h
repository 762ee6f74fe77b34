// Traces: schedules as data. A trace is a list of instructions, each a primitive with its arguments and the names of
// its results, which later instructions use.
//
//   schedule::Trace trace = *schedule::ReadTraceJson(text);     // TVM's Trace.as_json()
//   std::string python = schedule::ToPython(trace);             // b0 = sch.get_block(name="C", func_name="main") ...
//
// Source: TVM's src/tir/schedule/trace.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "iropt/diag/source.h"
#include "iropt/ir/attr.h"
#include "iropt/support/result.h"

namespace iropt {
class DiagnosticEngine;
class OptionValue;
}  // namespace iropt

namespace iropt::schedule {

enum class ParamKind : uint8_t {
  kBlock,
  kLoop,
  kLoopOrMark,  // a loop, or where sample_compute_location found none: at the root, or inlined
  kBlockOrLoop,
  kBlocksOrLoop,  // a loop or a list of blocks
  kLoops,         // all arguments that follow
  kBlocks,        // a list
  kFactors,       // integers, results of sampling, or None
  kInt,
  kBool,
  kString,
  kIntList,
  kFloatList,
  kIndexMap,
  kOptionalIndexMap,  // or None, or a number, which all positions have
  kSide,              // of a buffer: 0, the block reads it; 1, it writes it. The index of the buffer is before it
  kAnnotation,        // a string, a number, a result of sampling, lists and dictionaries of these
};
enum class ParamRole : uint8_t { kInput, kAttr };
enum class ResultKind : uint8_t { kNone, kBlock, kLoop, kBlocks, kLoops, kInt, kInts };

struct Param {
  std::string_view name;
  ParamKind kind;
  ParamRole role;
  std::string_view default_value;  // a Python literal; empty: required
};

class PrimitiveCall;  // lib/schedule/primitive_call.h

// A row of primitives.def.
struct Primitive {
  std::string_view name;
  std::string_view python;
  ResultKind results;
  bool is_pure;
  std::string_view summary;
  std::vector<Param> params;
  Status (*apply)(PrimitiveCall& call);
};
std::span<const Primitive> Primitives();
// By its name, or that of its method, in any version of TVM. Null if there is none.
const Primitive* FindPrimitive(std::string_view name);

// An argument.
struct Value {
  struct Name {  // of a result of an earlier instruction
    std::string text;
    friend bool operator==(const Name&, const Name&) = default;
  };
  using List = std::vector<Value>;
  struct Entry;
  using Dict = std::vector<Entry>;
  // None, ..., an index map.
  std::variant<std::monostate, bool, int64_t, double, std::string, Name, List, Dict, const IndexMapAttr*> data;

  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
  // Null for other kinds of values. A boolean is an integer, too.
  template <class T>
  const T* As() const {
    return std::get_if<T>(&data);
  }
  std::optional<int64_t> AsInt() const;
};

struct Value::Entry {
  std::string key;
  Value value;
};

// The value of a parameter that is not given, which has one.
Value DefaultOf(const Param& param);

struct Instruction {
  const Primitive* primitive = nullptr;
  std::vector<Value> args;           // one for each parameter
  std::vector<std::string> results;  // their names; none: they are not used
  std::optional<Value> decision;     // of sampling
  // Of several results, the index of the only one that has a name. Negative ones count from the end.
  std::optional<int64_t> picked = std::nullopt;
  SourceSpan span = {};  // where it was read; unknown without a source
};

struct Trace {
  std::vector<Instruction> instructions;
};

// TVM's JSON: [[[name, inputs, attributes, results], ...], [[index, decision], ...]]. The error names the instruction.
Result<Trace> ReadTraceJson(std::string_view text);
Result<Trace> ReadTraceJson(const OptionValue& json);
std::string ToJson(const Trace& trace);
// One statement of Python for each instruction, `l1, l2 = sch.split(loop=l0, factors=[None, 16], ...)`.
std::string ToPython(const Trace& trace);
std::string ToPython(const Instruction& instruction);
// Reads a trace in the Python that ToPython prints: assignments of calls of `sch`, comments and empty lines. A call may
// be an argument of another one, and followed by an index: sch.vectorize(sch.get_loops(b)[-1]).
Result<Trace> ReadTracePython(std::string_view text);
// Either form, by its first character.
Result<Trace> ReadTrace(std::string_view text);
// Reads a text that begins at the global offset `base`: errors are reported there, and instructions have spans.
Result<Trace> ReadLocatedTrace(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics);

// The trace without instructions whose results are not used and that change nothing.
Trace Simplify(const Trace& trace);

}  // namespace iropt::schedule
