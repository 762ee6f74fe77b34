// Traces as Python statements: printing, and reading them back.
//
//   b0 = sch.get_block(name="C", func_name="main")
//   l1, l2 = sch.get_loops(block=b0)
//   l3, l4 = sch.split(loop=l1, factors=[None, 16], preserve_unit_iters=True, disable_predication=False)
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

#include "index_map_tools.h"
#include "iropt/arith/prim_builder.h"
#include "iropt/diag/diagnostic.h"
#include "iropt/ir/context.h"
#include "iropt/pass/located_text.h"
#include "iropt/pass/option_value.h"
#include "iropt/schedule/trace.h"
#include "iropt/support/edit_distance.h"
#include "iropt/support/stack.h"

namespace iropt::schedule {

namespace {

// ---- Printing

std::string PythonValue(const Value& value);

std::string PythonItems(const Value::List& list) {
  std::vector<std::string> items;
  for (const Value& item : list) items.push_back(PythonValue(item));
  return fmt::format("{}", fmt::join(items, ", "));
}

std::string PythonValue(const Value& value) {
  if (value.is_none()) return "None";
  if (const auto* v = value.As<bool>()) return *v ? "True" : "False";
  if (const auto* v = value.As<int64_t>()) return fmt::format("{}", *v);
  if (const auto* v = value.As<double>()) return ToJson(OptionValue(*v));
  if (const auto* v = value.As<std::string>()) return ToJson(OptionValue(*v));
  if (const auto* v = value.As<Value::Name>()) return v->text;
  if (const auto* v = value.As<const IndexMapAttr*>()) return ToPython(**v);
  if (const auto* list = value.As<Value::List>()) return fmt::format("[{}]", PythonItems(*list));
  std::vector<std::string> entries;
  for (const auto& [key, item] : *value.As<Value::Dict>())
    entries.push_back(fmt::format("{}: {}", ToJson(OptionValue(key)), PythonValue(item)));
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

// The argument of a parameter that is printed as a boolean, also if it is 0 or 1 in JSON.
std::string PythonArg(const Param& param, const Value& value) {
  if (param.kind == ParamKind::kBool && value.AsInt()) return *value.AsInt() != 0 ? "True" : "False";
  return PythonValue(value);
}

// ---- Reading

template <class Rows, class Name>
std::vector<std::string_view> NamesOf(const Rows& rows, Name name) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.*name);
  return names;
}

class PythonReader {
 public:
  // `base` is the global offset of the text; 0: it is not a source.
  explicit PythonReader(std::string_view text, uint32_t base = 0) : text_(text), base_(base) {}

  Result<Trace> Read() {
    for (;;) {
      SkipLines();
      if (AtEnd()) return std::move(trace_);
      Result<Instruction> instruction = ReadStatement();
      if (!instruction) return Error(instruction.error());
      if (instruction->primitive) trace_.instructions.push_back(*std::move(instruction));
    }
  }
  // The offset of the error in the text.
  size_t error_at() const { return error_at_; }
  size_t error_line() const { return 1 + static_cast<size_t>(std::ranges::count(text_.substr(0, error_at_), '\n')); }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }

  Error Fail(std::string message, size_t at) {
    error_at_ = at;
    return Error{ErrorCode::PassFailed, std::move(message)};
  }
  // At the next token.
  Error Fail(std::string message) {
    SkipSpace();
    return Fail(std::move(message), at_);
  }

  // Spaces, and line ends between brackets.
  void SkipSpace() {
    while (!AtEnd()) {
      if (Peek() == '#') {
        while (!AtEnd() && Peek() != '\n') ++at_;
      } else if (Peek() == ' ' || Peek() == '\t' || Peek() == '\r' || (depth_ > 0 && Peek() == '\n')) {
        ++at_;
      } else {
        return;
      }
    }
  }
  void SkipLines() {
    for (SkipSpace(); !AtEnd() && (Peek() == '\n' || Peek() == ';'); SkipSpace()) ++at_;
  }

  bool Take(std::string_view token) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  std::string Identifier() {
    SkipSpace();
    const size_t begin = at_;
    while (!AtEnd() && (std::isalnum(static_cast<unsigned char>(Peek())) || Peek() == '_')) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  // [name, name =] sch.method(arguments)[index]; `def` lines and `pass`-like ones are not part of a trace.
  Result<Instruction> ReadStatement() {
    std::vector<std::string> names;
    const size_t begin = at_;
    std::string name = Identifier();
    if (name == "def" || name == "from" || name == "import" || Peek() == '@') {
      while (!AtEnd() && Peek() != '\n') ++at_;
      return Instruction{};
    }
    while (Peek() != '.') {
      if (name.empty()) return Fail("expected the name of a result, or a call of sch");
      names.push_back(name);
      const bool comma = Take(",");
      if (Take("=")) {
        name = Identifier();
        break;
      }
      if (!comma) return Fail(fmt::format("expected ',' or '=' after '{}'", name));
      name = Identifier();
    }
    if (name != "sch") return Fail("expected a call of a method of 'sch'", at_ - name.size());
    IROPT_ASSIGN_OR_RETURN(Instruction instruction, ReadCall(begin));
    if (instruction.picked && names.size() != 1) return Fail("expected one name for one result", begin);
    instruction.results = std::move(names);
    SkipSpace();
    if (!AtEnd() && Peek() != '\n' && Peek() != ';') return Fail("expected the end of the line after the call");
    return instruction;
  }

  // .method(arguments)[index], after `sch`.
  Result<Instruction> ReadCall(size_t begin) {
    Instruction instruction;
    if (!Take(".")) return Fail("expected '.' after 'sch'");
    const std::string method = Identifier();
    instruction.primitive = FindPrimitive(method);
    if (!instruction.primitive) {
      return Fail(fmt::format("unknown primitive '{}'{}", method,
                              DidYouMean(method, NamesOf(Primitives(), &Primitive::python))),
                  at_ - method.size());
    }
    IROPT_RETURN_IF_ERROR(ReadArguments(instruction));
    if (base_ != 0) instruction.span = {base_ + static_cast<uint32_t>(begin), base_ + static_cast<uint32_t>(at_)};
    if (!Take("[")) return instruction;
    if (GivesOne(instruction)) return Fail(fmt::format("{} has one result, without an index", method), begin);
    IROPT_ASSIGN_OR_RETURN(const Value index, ReadValue());
    const auto* number = index.As<int64_t>();
    if (!number || !Take("]")) return Fail("expected an integer and ']' after '['");
    instruction.picked = *number;
    return instruction;
  }

  static bool GivesOne(const Instruction& instruction) {
    const ResultKind kind = instruction.primitive->results;
    return kind == ResultKind::kBlock || kind == ResultKind::kLoop || kind == ResultKind::kInt;
  }

  // A call as an argument is an instruction of its own before the one that it is in.
  Result<Value> ReadNestedCall(size_t begin) {
    IROPT_ASSIGN_OR_RETURN(Instruction instruction, ReadCall(begin));
    if (!GivesOne(instruction) && !instruction.picked)
      return Fail(fmt::format("{} has several results: expected an index, as in [0], after the call",
                              instruction.primitive->python),
                  begin);
    std::string name;
    do {
      name = fmt::format("x{}", num_nested_++);
    } while (text_.find(name) != std::string_view::npos);
    instruction.results = {name};
    trace_.instructions.push_back(std::move(instruction));
    return Value{Value::Name{std::move(name)}};
  }

  Status ReadArguments(Instruction& instruction) {
    const std::vector<Param>& params = instruction.primitive->params;
    std::vector<bool> given(params.size());
    instruction.args.resize(params.size());
    if (!Take("(")) return Fail("expected '(' after the name of a method");
    ++depth_;
    size_t position = 0;
    while (!Take(")")) {
      SkipSpace();
      const size_t begin = at_;
      const std::string keyword = Keyword();
      IROPT_ASSIGN_OR_RETURN(Value value, ReadValue());
      if (auto error = SetArgument(instruction, given, keyword, position, std::move(value)))
        return Fail(*std::move(error), begin);
      if (!Take(",")) {
        if (!Take(")")) return Fail("expected ',' or ')' after an argument");
        break;
      }
    }
    --depth_;
    for (size_t i = 0; i < params.size(); ++i) {
      if (given[i]) continue;
      if (params[i].kind == ParamKind::kLoops) {
        instruction.args[i] = Value{Value::List{}};
      } else if (params[i].default_value.empty()) {
        return Fail(fmt::format("{} without its argument '{}'", instruction.primitive->python, params[i].name));
      } else {
        instruction.args[i] = DefaultOf(params[i]);
      }
    }
    return {};
  }

  // The name before a '=' that begins an argument; empty if there is none.
  std::string Keyword() {
    SkipSpace();
    const size_t begin = at_;
    std::string name = Identifier();
    SkipSpace();
    if (!name.empty() && Peek() == '=' && !text_.substr(at_).starts_with("==")) {
      ++at_;
      return name;
    }
    at_ = begin;
    return {};
  }

  // Returns what is wrong with the argument; nothing if it is set.
  static std::optional<std::string> SetArgument(Instruction& instruction, std::vector<bool>& given,
                                                const std::string& keyword, size_t& position, Value value) {
    const std::vector<Param>& params = instruction.primitive->params;
    if (keyword == "decision") {
      instruction.decision = std::move(value);
      return std::nullopt;
    }
    // ("read", 0) or "A" stand for an index and a side.
    const bool is_buffer = keyword == "buffer";
    const std::string_view name = is_buffer ? "buffer_index" : std::string_view(keyword);
    size_t index = position;
    if (!name.empty()) {
      index = static_cast<size_t>(std::ranges::find(params, name, &Param::name) - params.begin());
    } else if (index < params.size() && params[index].kind == ParamKind::kLoops) {
      if (!given[index]) instruction.args[index] = Value{Value::List{}};
      given[index] = true;
      std::get<Value::List>(instruction.args[index].data).push_back(std::move(value));
      return std::nullopt;
    }
    const std::string_view method = instruction.primitive->python;
    if (index < params.size() && given[index])
      return fmt::format("{} has the argument '{}' twice", method, params[index].name);
    if (index >= params.size()) {
      return keyword.empty() ? fmt::format("too many arguments of {}", method)
                             : fmt::format("{} has no argument '{}'{}", method, keyword,
                                           DidYouMean(keyword, NamesOf(params, &Param::name)));
    }
    const auto* pair = value.As<Value::List>();
    if ((is_buffer || params[index].name == "buffer_index") && pair && pair->size() == 2) {
      const auto* side = (*pair)[0].As<std::string>();
      if (!side || (*side != "read" && *side != "write")) return "a buffer must be (\"read\", i) or (\"write\", i)";
      instruction.args[index] = (*pair)[1];
      instruction.args[index + 1] = Value{int64_t{*side == "write"}};
      given[index] = given[index + 1] = true;
      position = index + 2;
      return std::nullopt;
    }
    instruction.args[index] = std::move(value);
    given[index] = true;
    if (keyword.empty()) position = index + 1;
    return std::nullopt;
  }

  Result<Value> ReadValue() {
    return WithStack([&]() -> Result<Value> {
      SkipSpace();
      const char c = Peek();
      if (c == '"' || c == '\'') return ReadString();
      if (c == '[' || c == '(') return ReadList(c == '[' ? "]" : ")");
      if (c == '{') return ReadDict();
      if (c == '-' || c == '.' || std::isdigit(static_cast<unsigned char>(c))) return ReadNumber();
      const size_t begin = at_;
      const std::string name = Identifier();
      if (name == "sch") return ReadNestedCall(begin);
      if (name == "None") return Value{};
      if (name == "True" || name == "False") return Value{name == "True"};
      if (name == "lambda") return ReadLambda();
      if (name.empty()) return Fail("expected a value");
      return Value{Value::Name{name}};
    });
  }

  Result<Value> ReadString() {
    const size_t begin = at_;
    const char quote = text_[at_++];
    std::string text;
    for (; !AtEnd() && Peek() != quote; ++at_) {
      if (Peek() == '\\' && at_ + 1 < text_.size()) ++at_;
      if (Peek() == '\n') break;
      text += Peek();
    }
    if (Peek() != quote) return Fail("a string that does not end", begin);
    ++at_;
    return Value{std::move(text)};
  }

  Result<Value> ReadNumber() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    double real = 0;
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc()) return Fail("expected a number");
    int64_t integer = 0;
    const auto as_integer = std::from_chars(begin, end, integer);
    at_ += static_cast<size_t>(as_real.ptr - begin);
    if (as_integer.ptr == as_real.ptr && as_integer.ec == std::errc()) return Value{integer};
    return Value{real};
  }

  Result<Value> ReadList(std::string_view close) {
    ++at_;
    ++depth_;
    Value::List items;
    while (!Take(close)) {
      IROPT_ASSIGN_OR_RETURN(Value item, ReadValue());
      items.push_back(std::move(item));
      if (!Take(",")) {
        if (!Take(close)) return Fail(fmt::format("expected ',' or '{}' in a list", close));
        break;
      }
    }
    --depth_;
    return Value{std::move(items)};
  }

  Result<Value> ReadDict() {
    ++at_;
    ++depth_;
    Value::Dict entries;
    while (!Take("}")) {
      SkipSpace();
      if (Peek() != '"' && Peek() != '\'') return Fail("expected a string as the key of a dictionary");
      IROPT_ASSIGN_OR_RETURN(const Value key, ReadString());
      if (!Take(":")) return Fail("expected ':' after the key of a dictionary");
      IROPT_ASSIGN_OR_RETURN(Value item, ReadValue());
      entries.push_back({*key.As<std::string>(), std::move(item)});
      if (!Take(",")) {
        if (!Take("}")) return Fail("expected ',' or '}' in a dictionary");
        break;
      }
    }
    --depth_;
    return Value{std::move(entries)};
  }

  // ---- lambda i, j: (i // 4, j, i % 4)

  Result<Value> ReadLambda() {
    params_.clear();
    std::vector<const tir::Var*> params;
    while (!Take(":")) {
      const std::string name = Identifier();
      if (name.empty()) return Fail("expected the name of a parameter");
      params.push_back(IRContext::Current().NewSymVar(name, DataType::Int(32)));
      params_[name] = params.back();
      if (!Take(",") && Peek() != ':') return Fail("expected ',' or ':' after a parameter");
    }
    std::vector<const PrimExpr*> results;
    const bool is_list = Take("(") || Take("[");
    if (is_list) ++depth_;
    for (;;) {
      if (is_list && (Take(")") || Take("]"))) break;
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* result, ReadSum());
      results.push_back(result);
      if (!is_list) break;
      if (Take(",")) continue;
      if (!Take(")") && !Take("]")) return Fail("expected ',' or ')' in the results of a lambda");
      break;
    }
    if (is_list) --depth_;
    return Value{IndexMapAttr::Get(params, results)};
  }

  Result<const PrimExpr*> ReadSum() {
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* left, ReadProduct());
    for (;;) {
      const bool plus = Take("+");
      if (!plus && !Take("-")) return left;
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* right, ReadProduct());
      const arith::PrimBuilder make;
      left = plus ? make.Add(left, right) : make.Sub(left, right);
    }
  }

  Result<const PrimExpr*> ReadProduct() {
    IROPT_ASSIGN_OR_RETURN(const PrimExpr* left, ReadAtom());
    for (;;) {
      const NodeKind kind = Take("//")  ? NodeKind::kFloorDiv
                            : Take("%") ? NodeKind::kFloorMod
                            : Take("*") ? NodeKind::kMul
                                        : NodeKind::kAdd;
      if (kind == NodeKind::kAdd) return left;
      IROPT_ASSIGN_OR_RETURN(const PrimExpr* right, ReadAtom());
      if (kind != NodeKind::kMul && arith::IsInt(right, 0)) return Fail("a division by zero");
      left = arith::PrimBuilder().Binary(kind, left, right);
    }
  }

  Result<const PrimExpr*> ReadAtom() {
    return WithStack([&]() -> Result<const PrimExpr*> {
      SkipSpace();
      if (Take("(")) {
        ++depth_;
        IROPT_ASSIGN_OR_RETURN(const PrimExpr* inner, ReadSum());
        if (!Take(")")) return Fail("expected ')'");
        --depth_;
        return inner;
      }
      if (std::isdigit(static_cast<unsigned char>(Peek())) || Peek() == '-') {
        IROPT_ASSIGN_OR_RETURN(const Value number, ReadNumber());
        const arith::PrimBuilder make;
        if (const auto* real = number.As<double>()) return make.Float(*real, DataType::Float(32));
        return make.Int(*number.As<int64_t>(), DataType::Int(32));
      }
      const std::string name = Identifier();
      if (name.empty()) return Fail("expected a number or a name");
      // Other names stand for numbers of the trace, or variables of the function.
      const auto [var, is_free] = params_.try_emplace(name);
      if (is_free) var->second = IRContext::Current().NewSymVar(name, DataType::Int(32));
      return var->second;
    });
  }

  std::string_view text_;
  uint32_t base_;
  Trace trace_;
  size_t num_nested_ = 0;
  size_t error_at_ = 0;
  size_t at_ = 0;
  int depth_ = 0;  // of brackets
  std::map<std::string, const tir::Var*> params_;
};

}  // namespace

std::string ToPython(const Instruction& instruction) {
  const std::vector<Param>& params = instruction.primitive->params;
  std::vector<std::string> args;
  const auto add = [&](std::string text) { args.push_back(std::move(text)); };
  for (size_t i = 0; i < params.size(); ++i) {
    const Param& param = params[i];
    const Value& value = instruction.args[i];
    if (param.kind == ParamKind::kLoops) {
      const auto* list = value.As<Value::List>();
      if (list && !list->empty()) add(PythonItems(*list));
    } else if (i + 1 < params.size() && params[i + 1].kind == ParamKind::kSide && instruction.args[i + 1].AsInt()) {
      add(fmt::format("buffer=(\"{}\", {})", *instruction.args[i + 1].AsInt() == 1 ? "write" : "read",
                      PythonValue(value)));
      ++i;
    } else if (param.default_value != "[]" || !value.As<Value::List>() || !value.As<Value::List>()->empty()) {
      add(fmt::format("{}={}", param.name, PythonArg(param, value)));
    }
  }
  if (instruction.decision) add(fmt::format("decision={}", PythonValue(*instruction.decision)));
  std::string results = fmt::format("{}", fmt::join(instruction.results, ", "));
  const ResultKind kind = instruction.primitive->results;
  if (instruction.results.size() == 1 && kind != ResultKind::kBlock && kind != ResultKind::kLoop &&
      kind != ResultKind::kInt)
    results += ",";
  return fmt::format("{}{}sch.{}({})", results, results.empty() ? "" : " = ", instruction.primitive->python,
                     fmt::join(args, ", "));
}

std::string ToPython(const Trace& trace) {
  std::string text;
  for (const Instruction& instruction : trace.instructions) text += ToPython(instruction) + "\n";
  return text;
}

Result<Trace> ReadTracePython(std::string_view text) {
  PythonReader reader(text);
  Result<Trace> trace = reader.Read();
  if (trace) return trace;
  return Error{ErrorCode::PassFailed, fmt::format("line {}: {}", reader.error_line(), trace.error().message)};
}

Result<Trace> ReadLocatedTrace(std::string_view text, uint32_t base, DiagnosticEngine& diagnostics) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    const auto json = ReadLocatedOptionValue(text, base, diagnostics);
    if (!json) return Failure{ErrorCode::PassFailed};
    Result<Trace> trace = ReadTraceJson(*json);
    if (trace) return trace;
    diagnostics.Error(json->span(), "bad-trace", fmt::format("the trace cannot be read: {}", trace.error().message));
    return Failure{ErrorCode::PassFailed};
  }
  PythonReader reader(text, base);
  Result<Trace> trace = reader.Read();
  if (trace) return trace;
  const auto at = static_cast<uint32_t>(base + reader.error_at());
  diagnostics.Error({at, at + 1}, "bad-trace", fmt::format("the trace cannot be read: {}", trace.error().message));
  return Failure{ErrorCode::PassFailed};
}

}  // namespace iropt::schedule
