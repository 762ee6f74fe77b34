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
#include "iropt/ir/context.h"
#include "iropt/pass/option_value.h"
#include "iropt/schedule/trace.h"
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

Error SyntaxError(std::string message) { return Error{ErrorCode::PassFailed, std::move(message)}; }

class PythonReader {
 public:
  explicit PythonReader(std::string_view text) : text_(text) {}

  Result<Trace> Read() {
    Trace trace;
    for (;;) {
      SkipLines();
      if (AtEnd()) return trace;
      Result<Instruction> instruction = ReadStatement();
      if (!instruction) return SyntaxError(fmt::format("line {}: {}", Line(), instruction.error().message));
      if (instruction->primitive) trace.instructions.push_back(*std::move(instruction));
    }
  }

 private:
  bool AtEnd() const { return at_ == text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  size_t Line() const { return 1 + static_cast<size_t>(std::ranges::count(text_.substr(0, at_), '\n')); }

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

  // [name, name =] sch.method(arguments); `def` lines and `pass`-like ones are not part of a trace.
  Result<Instruction> ReadStatement() {
    Instruction instruction;
    std::vector<std::string> names;
    std::string name = Identifier();
    if (name == "def" || name == "from" || name == "import" || Peek() == '@') {
      while (!AtEnd() && Peek() != '\n') ++at_;
      return instruction;
    }
    while (Peek() != '.') {
      if (name.empty()) return SyntaxError("expected the name of a result, or a call of sch");
      names.push_back(name);
      const bool comma = Take(",");
      if (Take("=")) {
        name = Identifier();
        break;
      }
      if (!comma) return SyntaxError(fmt::format("expected ',' or '=' after '{}'", name));
      name = Identifier();
    }
    if (name != "sch" || !Take(".")) return SyntaxError("expected a call of a method of 'sch'");
    const std::string method = Identifier();
    instruction.primitive = FindPrimitive(method);
    if (!instruction.primitive) return SyntaxError(fmt::format("unknown primitive '{}'", method));
    instruction.results = std::move(names);
    IROPT_RETURN_IF_ERROR(ReadArguments(instruction));
    SkipSpace();
    if (!AtEnd() && Peek() != '\n' && Peek() != ';') return SyntaxError("expected the end of the line after the call");
    return instruction;
  }

  Status ReadArguments(Instruction& instruction) {
    const std::vector<Param>& params = instruction.primitive->params;
    std::vector<bool> given(params.size());
    instruction.args.resize(params.size());
    if (!Take("(")) return SyntaxError("expected '(' after the name of a method");
    ++depth_;
    size_t position = 0;
    while (!Take(")")) {
      std::string keyword = Keyword();
      IROPT_ASSIGN_OR_RETURN(Value value, ReadValue());
      IROPT_RETURN_IF_ERROR(SetArgument(instruction, given, keyword, position, std::move(value)));
      if (!Take(",")) {
        if (!Take(")")) return SyntaxError("expected ',' or ')' after an argument");
        break;
      }
    }
    --depth_;
    for (size_t i = 0; i < params.size(); ++i) {
      if (given[i]) continue;
      if (params[i].kind == ParamKind::kLoops) {
        instruction.args[i] = Value{Value::List{}};
      } else if (params[i].default_value.empty()) {
        return SyntaxError(fmt::format("{} without its argument '{}'", instruction.primitive->python, params[i].name));
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

  Status SetArgument(Instruction& instruction, std::vector<bool>& given, const std::string& keyword, size_t& position,
                     Value value) {
    const std::vector<Param>& params = instruction.primitive->params;
    if (keyword == "decision") {
      instruction.decision = std::move(value);
      return {};
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
      return {};
    }
    if (index >= params.size() || given[index])
      return SyntaxError(keyword.empty() ? fmt::format("too many arguments of {}", instruction.primitive->python)
                                         : fmt::format("{} has no argument '{}', or has it twice",
                                                       instruction.primitive->python, keyword));
    const auto* pair = value.As<Value::List>();
    if ((is_buffer || params[index].name == "buffer_index") && pair && pair->size() == 2) {
      const auto* side = (*pair)[0].As<std::string>();
      if (!side || (*side != "read" && *side != "write"))
        return SyntaxError("a buffer must be (\"read\", i) or (\"write\", i)");
      instruction.args[index] = (*pair)[1];
      instruction.args[index + 1] = Value{int64_t{*side == "write"}};
      given[index] = given[index + 1] = true;
      position = index + 2;
      return {};
    }
    instruction.args[index] = std::move(value);
    given[index] = true;
    if (keyword.empty()) position = index + 1;
    return {};
  }

  Result<Value> ReadValue() {
    return WithStack([&]() -> Result<Value> {
      SkipSpace();
      const char c = Peek();
      if (c == '"' || c == '\'') return ReadString();
      if (c == '[' || c == '(') return ReadList(c == '[' ? "]" : ")");
      if (c == '{') return ReadDict();
      if (c == '-' || c == '.' || std::isdigit(static_cast<unsigned char>(c))) return ReadNumber();
      const std::string name = Identifier();
      if (name == "None") return Value{};
      if (name == "True" || name == "False") return Value{name == "True"};
      if (name == "lambda") return ReadLambda();
      if (name.empty()) return SyntaxError("expected a value");
      return Value{Value::Name{name}};
    });
  }

  Result<Value> ReadString() {
    const char quote = text_[at_++];
    std::string text;
    for (; !AtEnd() && Peek() != quote; ++at_) {
      if (Peek() == '\\' && at_ + 1 < text_.size()) ++at_;
      if (Peek() == '\n') break;
      text += Peek();
    }
    if (Peek() != quote) return SyntaxError("a string that does not end");
    ++at_;
    return Value{std::move(text)};
  }

  Result<Value> ReadNumber() {
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    double real = 0;
    const auto as_real = std::from_chars(begin, end, real);
    if (as_real.ec != std::errc()) return SyntaxError("expected a number");
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
        if (!Take(close)) return SyntaxError(fmt::format("expected ',' or '{}' in a list", close));
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
      if (Peek() != '"' && Peek() != '\'') return SyntaxError("expected a string as the key of a dictionary");
      IROPT_ASSIGN_OR_RETURN(const Value key, ReadString());
      if (!Take(":")) return SyntaxError("expected ':' after the key of a dictionary");
      IROPT_ASSIGN_OR_RETURN(Value item, ReadValue());
      entries.push_back({*key.As<std::string>(), std::move(item)});
      if (!Take(",")) {
        if (!Take("}")) return SyntaxError("expected ',' or '}' in a dictionary");
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
      if (name.empty()) return SyntaxError("expected the name of a parameter");
      params.push_back(IRContext::Current().NewSymVar(name, DataType::Int(32)));
      params_[name] = params.back();
      if (!Take(",") && Peek() != ':') return SyntaxError("expected ',' or ':' after a parameter");
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
      if (!Take(")") && !Take("]")) return SyntaxError("expected ',' or ')' in the results of a lambda");
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
      if (kind != NodeKind::kMul && arith::IsInt(right, 0)) return SyntaxError("a division by zero");
      left = arith::PrimBuilder().Binary(kind, left, right);
    }
  }

  Result<const PrimExpr*> ReadAtom() {
    return WithStack([&]() -> Result<const PrimExpr*> {
      SkipSpace();
      if (Take("(")) {
        ++depth_;
        IROPT_ASSIGN_OR_RETURN(const PrimExpr* inner, ReadSum());
        if (!Take(")")) return SyntaxError("expected ')'");
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
      if (name.empty()) return SyntaxError("expected a number or a name");
      // Other names stand for numbers of the trace, or variables of the function.
      const auto [var, is_free] = params_.try_emplace(name);
      if (is_free) var->second = IRContext::Current().NewSymVar(name, DataType::Int(32));
      return var->second;
    });
  }

  std::string_view text_;
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

Result<Trace> ReadTracePython(std::string_view text) { return PythonReader(text).Read(); }

}  // namespace iropt::schedule
