// Traces in TVM's JSON.
#include <fmt/format.h>

#include "iropt/schedule/trace.h"
#include "json_text.h"
#include "tvm_objects.h"

namespace iropt::schedule {

namespace {

Error TraceError(std::string message) { return Error{ErrorCode::PassFailed, std::move(message)}; }

bool IsObjectText(std::string_view text) { return text.starts_with('{') && text.ends_with('}'); }

// Inputs are strings: names of results, None, quoted strings and objects; and numbers, lists and dictionaries of such.
// Attributes are plain values, where a string is a string, but for objects.
class ValueReader {
 public:
  explicit ValueReader(bool is_input) : is_input_(is_input) {}

  Result<Value> Read(const OptionValue& json) const {
    if (json.is_null()) return Value{};
    if (const bool* v = json.as_bool()) return Value{*v};
    if (const int64_t* v = json.as_int()) return Value{*v};
    if (const double* v = json.as_double()) return Value{*v};
    if (const std::string* text = json.as_string()) return ReadText(*text);
    if (const OptionValue::List* list = json.as_list()) {
      Value::List items;
      for (const OptionValue& item : *list) {
        IROPT_ASSIGN_OR_RETURN(Value value, Read(item));
        items.push_back(std::move(value));
      }
      return Value{std::move(items)};
    }
    Value::Dict entries;
    for (const OptionValue::Entry& entry : *json.as_dict()) {
      IROPT_ASSIGN_OR_RETURN(Value value, ValueReader(false).Read(entry.value));
      entries.push_back({entry.key, std::move(value)});
    }
    return Value{std::move(entries)};
  }

 private:
  Result<Value> ReadText(const std::string& text) const {
    if (IsObjectText(text) && text.find("\"nodes\"") != std::string::npos) {
      IROPT_ASSIGN_OR_RETURN(const IndexMapAttr* map, ReadIndexMap(text));
      return Value{map};
    }
    if (!is_input_) return Value{text};
    if (text == "None") return Value{};
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return Value{text.substr(1, text.size() - 2)};
    return Value{Value::Name{text}};
  }

  bool is_input_;
};

// Converts an argument that is written in another form than its own.
void Adjust(const Param& param, Value& value) {
  if (param.kind == ParamKind::kBlocks && value.is_none()) value = Value{Value::List{}};
}

Status ReadArgs(const OptionValue::List& json, ParamRole role, Instruction& instruction) {
  const std::vector<Param>& params = instruction.primitive->params;
  const ValueReader reader(role == ParamRole::kInput);
  size_t next = 0;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].role != role) continue;
    if (params[i].kind == ParamKind::kLoops || params[i].kind == ParamKind::kFactors) {
      Value::List items;
      for (; next < json.size(); ++next) {
        IROPT_ASSIGN_OR_RETURN(Value item, reader.Read(json[next]));
        items.push_back(std::move(item));
      }
      instruction.args[i] = Value{std::move(items)};
    } else if (next < json.size()) {
      IROPT_ASSIGN_OR_RETURN(instruction.args[i], reader.Read(json[next++]));
    } else if (!params[i].default_value.empty()) {
      instruction.args[i] = DefaultOf(params[i]);
    } else {
      return TraceError(fmt::format("{} without its argument '{}'", instruction.primitive->name, params[i].name));
    }
    Adjust(params[i], instruction.args[i]);
  }
  if (next != json.size()) return TraceError(fmt::format("too many arguments of {}", instruction.primitive->name));
  return {};
}

Result<Instruction> ReadInstruction(const OptionValue& json) {
  const OptionValue::List* parts = json.as_list();
  if (!parts || parts->size() != 4 || !(*parts)[0].as_string() || !(*parts)[1].as_list() || !(*parts)[2].as_list() ||
      !(*parts)[3].as_list())
    return TraceError("each entry of a json instruction should be a tuple [inst_name, inputs, attrs, outputs]");
  const std::string& name = *(*parts)[0].as_string();
  Instruction instruction;
  instruction.primitive = FindPrimitive(name);
  if (!instruction.primitive) return TraceError(fmt::format("instruction kind '{}' is not known", name));
  instruction.args.resize(instruction.primitive->params.size());
  IROPT_RETURN_IF_ERROR(ReadArgs(*(*parts)[1].as_list(), ParamRole::kInput, instruction));
  IROPT_RETURN_IF_ERROR(ReadArgs(*(*parts)[2].as_list(), ParamRole::kAttr, instruction));
  for (const OptionValue& result : *(*parts)[3].as_list()) {
    if (!result.as_string()) return TraceError(fmt::format("a result of {} that is not a name", name));
    instruction.results.push_back(*result.as_string());
  }
  return instruction;
}

// ---- Writing

std::string Quote(std::string_view text) { return ToJson(OptionValue(text)); }

std::string WriteValue(const Value& value, bool is_input);

template <class List, class F>
std::string Join(const List& list, F&& write) {
  std::string text;
  for (const auto& item : list) {
    if (!text.empty()) text += ", ";
    text += write(item);
  }
  return text;
}

std::string WriteValue(const Value& value, bool is_input) {
  if (value.is_none()) return is_input ? "\"None\"" : "null";
  if (const auto* v = value.As<bool>()) return *v ? "true" : "false";
  if (const auto* v = value.As<int64_t>()) return fmt::format("{}", *v);
  if (const auto* v = value.As<double>()) return ToJson(OptionValue(*v));
  if (const auto* v = value.As<std::string>()) return Quote(is_input ? fmt::format("\"{}\"", *v) : *v);
  if (const auto* v = value.As<Value::Name>()) return Quote(v->text);
  if (const auto* v = value.As<const IndexMapAttr*>()) return Quote(WriteIndexMap(**v));
  if (const auto* list = value.As<Value::List>())
    return fmt::format("[{}]", Join(*list, [&](const Value& item) { return WriteValue(item, is_input); }));
  const auto write_entry = [&](const Value::Entry& entry) {
    return fmt::format("{}: {}", Quote(entry.key), WriteValue(entry.value, false));
  };
  return fmt::format("{{{}}}", Join(*value.As<Value::Dict>(), write_entry));
}

std::string WriteArgs(const Instruction& instruction, ParamRole role) {
  std::vector<std::string> items;
  const std::vector<Param>& params = instruction.primitive->params;
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].role != role) continue;
    if (params[i].kind == ParamKind::kLoops || params[i].kind == ParamKind::kFactors) {
      for (const Value& item : *instruction.args[i].As<Value::List>())
        items.push_back(WriteValue(item, role == ParamRole::kInput));
    } else {
      items.push_back(WriteValue(instruction.args[i], role == ParamRole::kInput));
    }
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

}  // namespace

Result<Trace> ReadTraceJson(std::string_view text) {
  IROPT_ASSIGN_OR_RETURN(const OptionValue json, ParseJson(text));
  return ReadTraceJson(json);
}

Result<Trace> ReadTraceJson(const OptionValue& json) {
  const OptionValue::List* parts = json.as_list();
  if (!parts || parts->size() != 2 || !(*parts)[0].as_list() || !(*parts)[1].as_list())
    return TraceError(
        "the json entry of a trace should contain two arrays, an array of instructions and an array of decisions");
  Trace trace;
  for (const OptionValue& entry : *(*parts)[0].as_list()) {
    Result<Instruction> instruction = ReadInstruction(entry);
    if (!instruction)
      return TraceError(fmt::format("instruction {}: {}", trace.instructions.size(), instruction.error().message));
    trace.instructions.push_back(*std::move(instruction));
  }
  for (const OptionValue& entry : *(*parts)[1].as_list()) {
    const OptionValue::List* pair = entry.as_list();
    const int64_t* index = pair && pair->size() == 2 ? (*pair)[0].as_int() : nullptr;
    if (!index || *index < 0 || static_cast<size_t>(*index) >= trace.instructions.size())
      return TraceError("each entry of a json decision should be a tuple [index, decision]");
    IROPT_ASSIGN_OR_RETURN(trace.instructions[static_cast<size_t>(*index)].decision,
                           ValueReader(false).Read((*pair)[1]));
  }
  return trace;
}

std::string ToJson(const Trace& trace) {
  std::vector<std::string> instructions, decisions;
  for (size_t i = 0; i < trace.instructions.size(); ++i) {
    const Instruction& instruction = trace.instructions[i];
    instructions.push_back(fmt::format("[{}, {}, {}, [{}]]", Quote(instruction.primitive->name),
                                       WriteArgs(instruction, ParamRole::kInput),
                                       WriteArgs(instruction, ParamRole::kAttr), Join(instruction.results, Quote)));
    if (instruction.decision) decisions.push_back(fmt::format("[{}, {}]", i, WriteValue(*instruction.decision, false)));
  }
  return fmt::format("[[{}], [{}]]", fmt::join(instructions, ", "), fmt::join(decisions, ", "));
}

}  // namespace iropt::schedule
