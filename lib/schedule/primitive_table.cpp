// The table of primitives, and calls of its rows.
#include <array>

#include "iropt/support/check.h"
#include "primitive_call.h"

namespace iropt::schedule {

namespace {

// Names of primitives in newer versions of TVM.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kOtherNames = {
    {{"GetSBlock", "GetBlock"}, {"get_sblock", "get_block"}}};

#define IROPT_PRIMITIVE(Name, ...)                                                                                     \
  Status Run##Name(PrimitiveCall& call) {                                                                              \
    args::Name<Resolved> args{};                                                                                       \
    IROPT_RETURN_IF_ERROR(call.Read(args::Name<Resolved>::FieldsOf(args)));                                            \
    return Apply##Name(call, args);                                                                                    \
  }
#include "iropt/schedule/primitives.def"

std::vector<Primitive> MakePrimitives() {
#define IROPT_PARAM(name, kind, role, default_value)                                                                   \
  Param { #name, ParamKind::k##kind, ParamRole::k##role, default_value }
#define IROPT_PRIMITIVE(Name, Python, Results, Effect, Summary, ...)                                                   \
  {#Name, Python, ResultKind::k##Results, std::string_view(#Effect) == "Pure", Summary, {__VA_ARGS__}, Run##Name},
  return {
#include "iropt/schedule/primitives.def"
  };
#undef IROPT_PARAM
}

}  // namespace

std::span<const Primitive> Primitives() {
  static const std::vector<Primitive> primitives = MakePrimitives();
  return primitives;
}

const Primitive* FindPrimitive(std::string_view name) {
  for (const auto& [other, known] : kOtherNames) {
    if (name == other) name = known;
  }
  for (const Primitive& primitive : Primitives()) {
    if (primitive.name == name || primitive.python == name) return &primitive;
  }
  return nullptr;
}

Result<Schedule::Outcome> Schedule::RunCall(const Instruction& instruction) {
  refusal_ = {};
  IROPT_CHECK(instruction.primitive->params.size() == instruction.args.size(),
              "an instruction with a wrong number of arguments");
  PrimitiveCall call(*this, instruction);
  const Status status = instruction.primitive->apply(call);
  if (status.ok()) return Outcome{call.results(), call.decided()};
  for (const Function& function : functions_) {
    if (refusal_.message.empty()) refusal_ = function.state->TakeRefusal();
  }
  return Failure{ErrorCode::PassFailed};
}

}  // namespace iropt::schedule
