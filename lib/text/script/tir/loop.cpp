// Loops: range, T.serial, T.parallel, T.vectorized, T.unroll, T.thread_binding and T.grid.
#include <fmt/format.h>

#include <algorithm>

#include "iropt/arith/prim_builder.h"
#include "parser.h"

namespace iropt::text {
namespace {

using Kind = PyValue::Kind;

// The head of one or several loops.
struct LoopHeader {
  tir::ForKind kind = tir::ForKind::kSerial;
  Ranges domains;
  InlineVector<DataType, 8> dtypes;  // of the loop variables
  const PrimExpr* step = nullptr;    // null for 1
  const DictAttr* annotations = DictAttr::Empty();
  std::string_view thread;
};

struct LoopName {
  std::string_view name;
  tir::ForKind kind;
};
constexpr LoopName kLoopNames[] = {{"serial", tir::ForKind::kSerial},
                                   {"parallel", tir::ForKind::kParallel},
                                   {"vectorized", tir::ForKind::kVectorized},
                                   {"unroll", tir::ForKind::kUnrolled},
                                   {"thread_binding", tir::ForKind::kThreadBinding}};

// From `start` to `stop`, or from 0 to `start` without a stop.
bool AddLoop(ScalarParser& p, const PyValue& start, const PyValue* stop, LoopHeader& header) {
  const PrimExpr* extent = p.ToPrim(stop ? *stop : start);
  if (!extent) return false;
  const PrimExpr* min = stop ? p.ToPrim(start) : p.ops_.Int(0, extent->dtype, start.span);
  if (!min) return false;
  if (!min->dtype.is_integer() || !extent->dtype.is_integer() || !min->dtype.is_scalar() ||
      !extent->dtype.is_scalar()) {
    return p.Error(start.span, "type-mismatch", "the bounds of a loop are integers");
  }
  if (stop) extent = p.ExtentOf(min, extent, start.span);
  if (!extent) return false;
  const DataType dtype =
      min->dtype.bits >= extent->dtype.bits ? min->dtype : DataType::Make(min->dtype.code, extent->dtype.bits, 1);
  min = p.ops_.MakeCast(dtype, min, min->span());
  extent = p.ops_.MakeCast(dtype, extent, extent->span());
  if (!min || !extent) return false;
  header.domains.push_back(p.ws_.New<tir::Range>(min, extent));
  header.dtypes.push_back(dtype);
  return true;
}

// The step of the one loop of the header.
bool AddStep(ScalarParser& p, const PyValue& value, LoopHeader& header) {
  const PrimExpr* step = p.ToPrim(value);
  if (!step) return false;
  if (!step->dtype.is_integer() || !step->dtype.is_scalar())
    return p.Error(value.span, "type-mismatch", "the step of a loop is an integer");
  const auto* literal = As<tir::IntImm>(step);
  if (literal && literal->value <= 0) return p.Error(value.span, "bad-number", "the step of a loop must be positive");
  if (literal && literal->value == 1) return true;
  header.step = p.ops_.MakeCast(header.dtypes.front(), step, step->span());
  return header.step != nullptr;
}

bool AddLoops(ScalarParser& p, const PyValue& start, const PyValue* stop, const PyValue* step, LoopHeader& header) {
  return AddLoop(p, start, p.Given(stop), header) && (!p.Given(step) || AddStep(p, *step, header));
}

// range(start, stop, step), which stands for T.serial and has its annotations
bool ReadRange(ScalarParser& p, const PyArgs& args, LoopHeader& header) {
  const PyValue* v[4];
  if (!p.Bind(args, "range", {"start", "stop", "step", "annotations"}, 1, v)) return false;
  header.annotations = p.ToDict(v[3]);
  return header.annotations && AddLoops(p, *v[0], v[1], v[2], header);
}

// TVM 0.25 writes some annotations as an argument: unroll=False is {"disable_unroll": True}, unroll=4 is
// {"pragma_unroll": 4}.
bool AddUnroll(ScalarParser& p, PyArgs& args, LoopHeader& header) {
  const auto found = std::ranges::find(args.keywords, "unroll", &PyKeyword::name);
  if (found == args.keywords.end()) return true;
  const PyValue value = found->value;
  args.keywords.erase(found);
  if (value.is(PyValue::Kind::kNone)) return true;
  const bool disables = value.is(PyValue::Kind::kBool) && !value.boolean;
  const Attr* attr = disables ? IntAttr::Bool(true) : p.ToAttr(value, ScriptDialect::kTir);
  if (!attr) return false;
  header.annotations = header.annotations->With(disables ? attr::kDisableUnroll : attr::kPragmaUnroll, attr);
  return true;
}

// The bounds of a loop in the dtype that the text states for its variable.
bool ConvertBounds(ScalarParser& p, PyArgs& args, const PyKeyword& keyword) {
  DataType dtype;
  if (!p.ToDType(keyword.value, dtype)) return false;
  if (!dtype.is_integer() || !dtype.is_scalar()) return p.WrongValue(keyword.value, "an integer type");
  for (size_t i = 0; i < args.positional.size() && i < 2; ++i) {
    const PrimExpr* bound = p.ToPrim(args.positional[i]);
    bound = bound ? p.ops_.MakeCast(dtype, bound, bound->span()) : nullptr;
    if (!bound) return false;
    args.positional[i] = PyValue(bound);
  }
  return true;
}

bool ReadLoop(ScalarParser& p, PyArgs& args, std::string_view what, LoopHeader& header) {
  if (const auto dtype = std::ranges::find(args.keywords, "dtype", &PyKeyword::name); dtype != args.keywords.end()) {
    const PyKeyword keyword = *dtype;
    args.keywords.erase(dtype);
    if (!ConvertBounds(p, args, keyword)) return false;
  }
  if (!AddUnroll(p, args, header)) return false;
  const std::string name = fmt::format("T.{}", what);
  const PyValue* v[4];
  const PyValue* step = nullptr;
  if (header.kind == tir::ForKind::kThreadBinding) {
    if (!p.Bind(args, name, {"start", "stop", "thread", "annotations"}, 1, v)) return false;
    // T.thread_binding(extent, "threadIdx.x")
    if (!v[2] && v[1] && v[1]->is(Kind::kString)) std::swap(v[1], v[2]);
    if (!v[2]) return p.Error(args.span, "missing-argument", "missing argument 'thread' in call to T.thread_binding");
    if (!p.ToString(*v[2], header.thread)) return false;
    header.thread = p.ws_.arena().CopyString(header.thread);
  } else {
    if (!p.Bind(args, name, {"start", "stop", "step", "annotations"}, 1, v)) return false;
    // The third argument by position is the annotations.
    if (args.positional.size() == 3) std::swap(v[2], v[3]);
    step = v[2];
  }
  const DictAttr* annotations = p.ToDict(v[3]);
  if (!annotations) return false;
  for (uint32_t i = 0; i < annotations->size(); ++i) {
    header.annotations = header.annotations->With(annotations->keys[i], annotations->values[i]);
  }
  return AddLoops(p, *v[0], v[1], step, header);
}

bool ParseLoopHeader(TirParser& p, LoopHeader& header) {
  const uint32_t begin = p.lex_.peek().begin;
  std::string_view name;
  if (p.AtPrefix() == Prefix::kTir) {
    p.lex_.Next();
    name = p.DottedName();
    if (name.empty()) return false;
  } else if (p.AtName("range")) {
    p.lex_.Next();
    PyArgs args;
    return p.ParseArguments(args, begin) && ReadRange(p, args, header);
  } else {
    return p.Unexpected("a loop such as range(...) or T.grid(...)");
  }
  const Span span = p.lex_.SpanFrom(begin);
  PyArgs args;
  const auto* loop =
      std::find_if(std::begin(kLoopNames), std::end(kLoopNames), [&](const LoopName& l) { return l.name == name; });
  if (loop != std::end(kLoopNames)) {
    header.kind = loop->kind;
    return p.ParseArguments(args, begin) && ReadLoop(p, args, name, header);
  }
  if (name != "grid") {
    static constexpr std::string_view kNames[] = {"grid",           "parallel", "serial",
                                                  "thread_binding", "unroll",   "vectorized"};
    return p.UnknownMember("T", name, span, kNames);
  }
  if (!p.ParseArguments(args, begin)) return false;
  if (!args.keywords.empty()) return p.Error(args.keywords[0].span, "unknown-argument", "T.grid takes extents only");
  for (const PyValue& v : args.positional) {
    // TVM 0.26 allows (begin, end) instead of an extent.
    const bool pair = v.is_list() && v.items().size() == 2;
    if (!AddLoop(p, pair ? v.items()[0] : v, pair ? &v.items()[1] : nullptr, header)) return false;
  }
  return !header.domains.empty() || p.Error(span, "missing-argument", "T.grid needs extents");
}

// The variable of the pragma right before the loop, if it has the name of the loop's variable: pragmas stand around the
// loop whose variable they name. Null for other loops.
const tir::Var* VarOfPragma(const TirParser& p, const Target& target, const LoopHeader& header) {
  const tir::Var* var = p.pragma_.var;
  const bool is_next = var && p.pragma_.stmts == p.build_.mark().stmts && p.pragma_.depth == p.build_.depth();
  if (!is_next || target.is_list || header.domains.size() != 1 || var->dtype != header.dtypes[0]) return nullptr;
  return p.symbols_.Find(p.lex_.text(target.name)) == var ? var : nullptr;
}

void OpenLoops(TirParser& p, const LoopHeader& header, std::span<const tir::Var* const> vars, Span span) {
  for (size_t i = 0; i < vars.size(); ++i) {
    const tir::IterVar* thread = nullptr;
    if (header.kind == tir::ForKind::kThreadBinding) {
      thread = p.ws_.New<tir::IterVar>(nullptr, p.ws_.NewPrimVar("iter", header.dtypes[i]),
                                       tir::IterVarType::kThreadIndex, header.thread);
    }
    p.build_.Open<tir::For>(span, vars[i], header.domains[i]->min, header.domains[i]->extent, header.kind, nullptr,
                            thread, header.annotations, header.step);
  }
}

}  // namespace

bool ParseFor(TirParser& p) {
  const uint32_t begin = p.lex_.Next().begin;
  Target target;
  if (!p.targets_.ParseTargets(target)) return false;
  if (!p.AcceptName("in")) return p.Unexpected("'in'");
  LoopHeader header;
  int parentheses = 0;
  while (p.Accept(TokenKind::kLParen)) ++parentheses;
  const Span header_span = p.SpanHere();
  if (!ParseLoopHeader(p, header)) return false;
  for (; parentheses > 0; --parentheses) {
    if (!p.Expect(TokenKind::kRParen, "a loop in parentheses")) return false;
  }
  const Span span = p.lex_.SpanFrom(begin);
  const size_t outer_loops = p.loops_.size();
  const size_t depth = p.build_.depth();
  const tir::Var* known = VarOfPragma(p, target, header);
  p.symbols_.PushScope();
  InlineVector<const tir::Var*, 8> vars;
  PyValues values;
  for (size_t i = 0; i < header.domains.size(); ++i) {
    vars.push_back(known ? known : p.ws_.NewPrimVar({}, header.dtypes[i]));
    values.push_back(PyValue(vars.back()));
    values.back().span = header_span;
    p.loops_.emplace_back(vars.back(), header.domains[i]);
  }
  OpenLoops(p, header, vars, span);
  const bool one = values.size() == 1;
  const bool ok =
      p.AssignTo(target, one ? values[0] : p.ListOf(Kind::kTvmArray, values, header_span), TirParser::Naming::kLoop) &&
      p.ParseSuite();
  if (ok) p.CloseTo(depth);
  p.symbols_.PopScope();
  p.loops_.resize(outer_loops);
  return ok;
}

}  // namespace iropt::text
