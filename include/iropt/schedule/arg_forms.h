// The forms of the arguments of primitives. iropt/schedule/args.h, which is made of primitives.def, has a struct for
// each primitive in both: Named, as a call or an instruction has them, and Resolved, as what applies the primitive gets
// them.
//
//   schedule.Apply(args::Split<Named>{.loop = l0, .factors = {std::nullopt, 16}});
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "iropt/schedule/trace.h"

namespace iropt::schedule {

struct Ref;
struct Variable;

// A name of a block, a loop or a number in the trace.
using Name = std::string;
using Names = std::vector<Name>;
// Of a split: nothing for the one that follows from the others.
using Factors = std::vector<std::optional<int64_t>>;

// Use of a buffer by a block.
enum class Side : uint8_t { kRead, kWrite };

// The value of an annotation.
struct Annotation {
  // Values convert to annotations implicitly. NOLINTBEGIN(google-explicit-constructor)
  Annotation(int64_t number) : value{number} {}
  Annotation(const std::vector<int64_t>& numbers);
  Annotation(Value any) : value(std::move(any)) {}
  // NOLINTEND(google-explicit-constructor)
  Value value;
};

// Blocks and loops are names of results, and texts last as long as the call.
struct Named {
  using Part = Name;
  using Parts = Names;
  using PartOrParts = std::variant<Name, Names>;
  using LoopOrMark = Name;
  using Text = std::string_view;
  using AnyValue = Annotation;
};

// Blocks and loops are those of the function, and numbers are known.
struct Resolved {
  using Part = Ref*;
  using Parts = std::vector<Ref*>;
  using PartOrParts = std::vector<Ref*>;
  using LoopOrMark = Variable;  // without a block or loop: kComputeAtRoot or kComputeInline
  using Text = std::string;
  using AnyValue = Value;
};

namespace args {

template <class Form, ParamKind kind>
struct TypeOf;

// The type of an argument of this kind.
template <class Form, ParamKind kind>
using Arg = typename TypeOf<Form, kind>::Type;

#define IROPT_ARG_TYPE(Kind, ...)                                                                                      \
  template <class Form>                                                                                                \
  struct TypeOf<Form, ParamKind::k##Kind> {                                                                            \
    using Type = __VA_ARGS__;                                                                                          \
  }
IROPT_ARG_TYPE(Block, typename Form::Part);
IROPT_ARG_TYPE(Loop, typename Form::Part);
IROPT_ARG_TYPE(LoopOrMark, typename Form::LoopOrMark);
IROPT_ARG_TYPE(BlockOrLoop, typename Form::Part);
IROPT_ARG_TYPE(BlocksOrLoop, typename Form::PartOrParts);
IROPT_ARG_TYPE(Loops, typename Form::Parts);
IROPT_ARG_TYPE(Blocks, typename Form::Parts);
IROPT_ARG_TYPE(Factors, Factors);
IROPT_ARG_TYPE(Int, int64_t);
IROPT_ARG_TYPE(Bool, bool);
IROPT_ARG_TYPE(String, typename Form::Text);
IROPT_ARG_TYPE(IntList, std::vector<int64_t>);
IROPT_ARG_TYPE(FloatList, std::vector<double>);
IROPT_ARG_TYPE(IndexMap, const IndexMapAttr*);
IROPT_ARG_TYPE(OptionalIndexMap, const IndexMapAttr*);  // null for None
IROPT_ARG_TYPE(Side, Side);
IROPT_ARG_TYPE(Annotation, typename Form::AnyValue);
#undef IROPT_ARG_TYPE

}  // namespace args

Value ToValue(const Name& name);
Value ToValue(const Names& names);
Value ToValue(const std::variant<Name, Names>& target);
Value ToValue(const Factors& factors);
Value ToValue(int64_t number);
Value ToValue(bool flag);
Value ToValue(std::string_view text);
Value ToValue(const std::vector<int64_t>& numbers);
Value ToValue(const std::vector<double>& numbers);
Value ToValue(const IndexMapAttr* map);
Value ToValue(Side side);
Value ToValue(const Annotation& annotation);

// The arguments of an instruction: of args::Split<Named> and its like, all of them.
template <class Args>
std::vector<Value> ToValues(const Args& args) {
  return std::apply([](const auto&... field) { return std::vector<Value>{ToValue(field)...}; }, Args::FieldsOf(args));
}

}  // namespace iropt::schedule
