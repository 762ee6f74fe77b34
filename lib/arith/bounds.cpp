#include "iropt/arith/bounds.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "iropt/op/intrinsic_ids.h"
#include "iropt/op/large_uint.h"
#include "iropt/op/op_id.h"
#include "iropt/support/stack.h"

namespace iropt::arith {
namespace {

constexpr int64_t kPosInf = IntBound::kPosInf;
constexpr int64_t kNegInf = IntBound::kNegInf;

// Holds sums and products of 64 bits. Greater numbers than kWideInf are as good as infinite.
__extension__ using Wide = __int128;
constexpr Wide kWideInf = Wide{1} << 100;

// A closed interval.
struct WideBound {
  Wide min;
  Wide max;

  bool IsWithin(WideBound other) const { return min >= other.min && max <= other.max; }
  WideBound Union(WideBound other) const { return {std::min(min, other.min), std::max(max, other.max)}; }
};

// The values that a number of the dtype may have.
WideBound ValuesIn(IntBound bound, DataType dtype) {
  const bool is_uint64 = dtype.is_uint() && dtype.bits == 64;
  return {bound.min, bound.max == kPosInf && is_uint64 ? Wide{std::numeric_limits<uint64_t>::max()} : bound.max};
}
WideBound ValuesIn(DataType dtype) { return ValuesIn(IntBound::Everything(dtype), dtype); }

// Terms of index arithmetic, in which rewriting may put together what exceeds the dtype: they are only bounded where
// they are known to be.
WideBound Widen(IntBound bound, DataType dtype) {
  if (!IsIndexType(dtype)) return ValuesIn(bound, dtype);
  return {bound.min == kNegInf ? -kWideInf : bound.min, bound.max == kPosInf ? kWideInf : bound.max};
}

// No end of an interval stands for infinity on the other side, so that one integer is never mistaken for all above it.
IntBound Narrow(WideBound bound) {
  return {static_cast<int64_t>(std::clamp<Wide>(bound.min, kNegInf, kPosInf - 1)),
          static_cast<int64_t>(std::clamp<Wide>(bound.max, kNegInf + 1, kPosInf))};
}

Wide Multiply(Wide a, Wide b) {
  Wide product;
  if (!__builtin_mul_overflow(a, b, &product)) return std::clamp(product, -kWideInf, kWideInf);
  return (a > 0) == (b > 0) ? kWideInf : -kWideInf;
}

// A quotient by an infinite divisor is the limit of the finite ones.
template <bool kFloor>
Wide Divide(Wide a, Wide b) {
  if (a >= kWideInf || a <= -kWideInf) return b > 0 ? a : -a;
  const auto a64 = static_cast<int64_t>(a);
  const auto b64 = static_cast<int64_t>(b);
  // Divisions of 128 bits are slow.
  if (a64 == a && b64 == b && b64 != -1) return kFloor ? FloorDivInt(a64, b64) : a64 / b64;
  return a / b - (kFloor && a % b != 0 && (a % b < 0) != (b < 0));
}

Wide ShiftLeft(Wide a, Wide n) { return Multiply(a, n > 64 ? kWideInf : Wide{1} << static_cast<int>(n)); }
Wide ShiftRight(Wide a, Wide n) { return a >> static_cast<int>(std::min<Wide>(n, 64)); }

// The extremes of an operation that is monotonic in each operand.
template <class F>
WideBound Corners(WideBound a, WideBound b, F op) {
  const auto [lo, hi] = std::minmax({op(a.min, b.min), op(a.min, b.max), op(a.max, b.min), op(a.max, b.max)});
  return {lo, hi};
}

// A quotient is monotonic in the divisor on either side of zero only.
template <class F>
WideBound DivideBounds(WideBound a, WideBound b, DataType dtype, F op) {
  if (b.min > 0 || b.max < 0) return Corners(a, b, op);
  if (b.min == 0 && b.max == 0) return ValuesIn(dtype);
  if (b.min == 0) return Corners(a, {1, b.max}, op);
  if (b.max == 0) return Corners(a, {b.min, -1}, op);
  return Corners(a, {b.min, -1}, op).Union(Corners(a, {1, b.max}, op));
}

WideBound FloorModBounds(WideBound a, WideBound b) {
  if (b.min > 0) {
    if (a.min >= 0) return a.max < b.min ? a : WideBound{0, std::min(a.max, b.max - 1)};
    return {0, b.max - 1};
  }
  return {std::min<Wide>(0, b.min + 1), std::max<Wide>(0, b.max - 1)};
}

WideBound TruncModBounds(WideBound a, WideBound b, DataType dtype) {
  if (b.min <= 0) return ValuesIn(dtype);
  const Wide cap = b.max - 1;
  if (a.min >= 0) return a.max < b.min ? a : WideBound{0, std::min(a.max, cap)};
  return {std::max(a.min, -cap), std::min(std::max<Wide>(a.max, 0), cap)};
}

// The number of bits that a floating point dtype holds exactly; 0 if it is not known here.
int ExactBits(DataType dtype) {
  if (dtype.code != TypeCode::kFloat) return 0;
  return dtype.bits == 64 ? 53 : dtype.bits == 32 ? 24 : dtype.bits == 16 ? 11 : 0;
}

WideBound AddBounds(WideBound a, WideBound b) { return {a.min + b.min, a.max + b.max}; }

// The bounds of a value that was computed exactly and is stored in the dtype.
IntBound Stored(WideBound exact, DataType dtype) {
  return exact.IsWithin(ValuesIn(dtype)) ? Narrow(exact) : IntBound::Everything(dtype);
}

// The bounds of a sum, difference and so on. A result that a narrow or unsigned dtype cannot hold wraps around; indices
// do not overflow.
IntBound Computed(WideBound exact, DataType dtype) {
  const DataType element = dtype.with_lanes(1);
  return IsIndexType(element) ? Narrow(exact) : Stored(exact, element);
}

}  // namespace

IntBound IntBound::Everything(DataType dtype) {
  if (!dtype.is_integer()) return {};
  const int value_bits = dtype.bits - (dtype.is_int() ? 1 : 0);
  const int64_t max = value_bits >= 63 ? kPosInf : (int64_t{1} << value_bits) - 1;
  if (dtype.is_uint()) return {0, max};
  return {value_bits >= 63 ? kNegInf : -max - 1, max};
}

namespace {

// Constants, variables, and sums, products and so on of these are computed faster than looked up.
bool IsShallow(const PrimExpr* e) {
  const auto is_leaf = [](const PrimExpr* x) { return x->kind == NodeKind::kIntImm || tir::Var::ClassOf(x->kind); };
  if (is_leaf(e)) return true;
  const auto* binary = As<tir::BinaryExpr>(e);
  return binary && is_leaf(binary->a) && is_leaf(binary->b);
}

}  // namespace

IntBound BoundAnalyzer::Bound(const PrimExpr* e) const {
  if (const int64_t* value = AsInt(e)) return Narrow({*value, *value});
  if (IsShallow(e)) return UncachedBound(e);
  if (const IntBound* known = bounds_.Find(e)) return *known;
  const IntBound bound = UncachedBound(e);
  bounds_.Keep(e, bound);
  return bound;
}

IntBound BoundAnalyzer::UncachedBound(const PrimExpr* e) const {
  const IntBound bound = WithStack([&] { return BoundOf(e); });
  const IntBound* fact = facts_.Find(e);
  if (!fact) return bound;
  // Facts that contradict each other are those of code that never runs.
  const IntBound common = bound.Intersect(*fact);
  return common.min <= common.max ? common : bound;
}

void BoundAnalyzer::AddFact(const PrimExpr* e, IntBound bound) {
  const IntBound* earlier = facts_.Find(e);
  facts_.Add(e, earlier ? bound.Intersect(*earlier) : bound);
  DropCaches();
}

IntBound BoundAnalyzer::BoundOf(const PrimExpr* e) const {
  switch (e->kind) {
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: return BoundOfVar(static_cast<const tir::Var*>(e));
    case NodeKind::kCast: return BoundOfCast(static_cast<const tir::Cast*>(e));
    case NodeKind::kSelect: {
      const auto* select = static_cast<const tir::Select*>(e);
      return Bound(select->true_value).Union(Bound(select->false_value));
    }
    case NodeKind::kRamp: {
      const auto* ramp = static_cast<const tir::Ramp*>(e);
      const DataType element = ramp->base->dtype;
      const WideBound steps{0, Wide{Bound(ramp->lanes).max} - 1};
      const WideBound span = Corners(Widen(Bound(ramp->stride), element), steps, Multiply);
      return Computed(AddBounds(Widen(Bound(ramp->base), element), span), element);
    }
    case NodeKind::kBroadcast: return Bound(static_cast<const tir::Broadcast*>(e)->value);
    case NodeKind::kPrimCall: return BoundOfCall(static_cast<const tir::Call*>(e));
    case NodeKind::kLet: return BoundOfLet(static_cast<const tir::Let*>(e));
    default: break;
  }
  if (e->kind >= NodeKind::kAdd && e->kind <= NodeKind::kMax)
    return BoundOfBinary(static_cast<const tir::BinaryExpr*>(e));
  return IntBound::Everything(e->dtype);
}

// The bounds of ceil(log2(x)) for an integer x, computed in float64. The logarithms of 2^k and 2^k + 1 differ in
// float64 up to this k: above, the least value does not grow.
std::optional<IntBound> BoundAnalyzer::BoundOfCeilLog2(const PrimExpr* e) const {
  constexpr int64_t kDistinct = int64_t{1} << 40;
  const auto argument = [](const PrimExpr* of, OpId id) {
    const auto* call = of ? As<tir::Call>(of) : nullptr;
    const auto* op = call ? As<Op>(call->op) : nullptr;
    return op && op->id == id ? call->args[0] : nullptr;
  };
  const PrimExpr* real = argument(argument(e, op::kTirCeil), op::kTirLog2);
  const auto* cast = real && real->dtype == DataType::Float(64) ? As<tir::Cast>(real) : nullptr;
  if (!cast || !cast->value->dtype.is_integer()) return std::nullopt;
  const IntBound value = Bound(cast->value);
  if (value.min < 1) return std::nullopt;
  const auto ceil_log2 = [](int64_t x) { return static_cast<int64_t>(std::bit_width(static_cast<uint64_t>(x - 1))); };
  return IntBound{ceil_log2(std::min(value.min, kDistinct)), ceil_log2(value.max)};
}

// A value that the dtype cannot hold wraps around.
IntBound BoundAnalyzer::BoundOfCast(const tir::Cast* cast) const {
  if (const auto log = BoundOfCeilLog2(cast->value); log && cast->dtype.is_integer())
    return log->Intersect(IntBound::Everything(cast->dtype));
  const WideBound value = ValuesIn(Bound(cast->value), cast->value->dtype);
  if (cast->dtype.is_integer()) return Stored(value, cast->dtype);
  // A float format rounds greater integers.
  const Wide exact = Wide{1} << ExactBits(cast->dtype);
  return value.IsWithin({-exact, exact}) ? Narrow(value) : IntBound::Everything(cast->dtype);
}

IntBound BoundAnalyzer::BoundOfBinary(const tir::BinaryExpr* e) const {
  const DataType dtype = e->dtype.with_lanes(1);
  if (!dtype.is_integer()) return IntBound::Everything(dtype);
  const WideBound a = Widen(Bound(e->a), dtype);
  const WideBound b = Widen(Bound(e->b), dtype);
  // A size n >= 0 is in fact n > 0 if it is a divisor.
  const WideBound divisor = b.min == 0 && b.max > 0 ? WideBound{1, b.max} : b;
  switch (e->kind) {
    case NodeKind::kAdd: return Computed(AddBounds(a, b), dtype);
    case NodeKind::kSub: return Computed({a.min - b.max, a.max - b.min}, dtype);
    case NodeKind::kMul: return Computed(Corners(a, b, Multiply), dtype);
    case NodeKind::kDiv: return Computed(DivideBounds(a, divisor, dtype, Divide<false>), dtype);
    case NodeKind::kFloorDiv: return Computed(DivideBounds(a, divisor, dtype, Divide<true>), dtype);
    case NodeKind::kMod: return Computed(TruncModBounds(a, divisor, dtype), dtype);
    case NodeKind::kFloorMod: return Computed(FloorModBounds(a, divisor), dtype);
    case NodeKind::kMin: return Computed({std::min(a.min, b.min), std::min(a.max, b.max)}, dtype);
    case NodeKind::kMax: return Computed({std::max(a.min, b.min), std::max(a.max, b.max)}, dtype);
    default: return IntBound::Everything(dtype);
  }
}

IntBound BoundAnalyzer::BoundOfVar(const tir::Var* var) const {
  if (const auto* it = var_bounds_.Find(var)) return *it;
  if (var->is_size_var() || (sym_vars_nonnegative_ && var->context_owned() && var->dtype.is_integer())) {
    return {0, IntBound::Everything(var->dtype).max};
  }
  return IntBound::Everything(var->dtype);
}

namespace {

// The entry of a variable while this lives.
template <class T>
class ScopedEntry {
 public:
  ScopedEntry(LookupMap<const tir::Var*, T>& entries, const tir::Var* var, const T& value)
      : entries_(entries), var_(var) {
    if (const T* before = entries.Find(var)) before_ = *before;
    entries.insert_or_assign(var, value);
  }
  ~ScopedEntry() {
    if (before_) {
      entries_.insert_or_assign(var_, *before_);
    } else {
      entries_.erase(var_);
    }
  }
  ScopedEntry(const ScopedEntry&) = delete;
  ScopedEntry& operator=(const ScopedEntry&) = delete;

 private:
  LookupMap<const tir::Var*, T>& entries_;
  const tir::Var* var_;
  std::optional<T> before_;
};

}  // namespace

// The body may occur elsewhere, where the variable has another value: what is cached about it is forgotten.
IntBound BoundAnalyzer::BoundOfLet(const tir::Let* let) const {
  const IntBound value = Bound(let->value);
  DropCaches();
  const ScopedEntry entry(var_bounds_, let->var, value);
  const IntBound body = Bound(let->body);
  DropCaches();
  return body;
}

ModularSet BoundAnalyzer::ModularOfLet(const tir::Let* let) const {
  const ModularSet value = Modular(let->value);
  DropCaches();
  const ScopedEntry entry(var_modular_, let->var, value);
  const ModularSet body = Modular(let->body);
  DropCaches();
  return body;
}

IntBound BoundAnalyzer::BoundOfCall(const tir::Call* call) const {
  const DataType dtype = call->dtype.with_lanes(1);
  const IntBound all = IntBound::Everything(dtype);
  const auto* op = As<Op>(call->op);
  if (!op || call->args.size() != 2 || !dtype.is_integer()) return all;
  if (const auto value = AsLargeUInt(call)) return Narrow({*value, *value});
  const WideBound a = Widen(Bound(call->args[0]), dtype);
  const WideBound b = Widen(Bound(call->args[1]), dtype);
  switch (op->id) {
    case op::kTirShiftRight: return b.min >= 0 ? Narrow(Corners(a, b, ShiftRight)) : all;
    case op::kTirShiftLeft: return b.min >= 0 ? Stored(Corners(a, b, ShiftLeft), dtype) : all;
    case op::kTirBitwiseAnd:
      if (a.min < 0 && b.min < 0) return all;
      return Narrow({0, a.min < 0 ? b.max : b.min < 0 ? a.max : std::min(a.max, b.max)});
    default: return all;
  }
}

// ---- Residue classes

namespace {

constexpr ModularSet kAnyInt{1, 0};

// The union of two classes: all values are also congruent modulo the distance of the bases.
ModularSet UnionModular(ModularSet a, ModularSet b) {
  const auto distance = CheckedSub(a.base, b.base);
  if (!distance || *distance == std::numeric_limits<int64_t>::min()) return kAnyInt;
  const int64_t coeff = ZeroAwareGcd(ZeroAwareGcd(a.coeff, b.coeff), *distance);
  return {coeff, coeff == 0 ? a.base : FloorModInt(a.base, coeff)};
}

ModularSet MulModular(ModularSet a, ModularSet b) {
  // (p x + n)(q y + m) = pq xy + pm x + qn y + nm
  const auto pq = CheckedMul(a.coeff, b.coeff), pm = CheckedMul(a.coeff, b.base);
  const auto qn = CheckedMul(b.coeff, a.base), nm = CheckedMul(a.base, b.base);
  if (!pq || !pm || !qn || !nm) return kAnyInt;
  return {ZeroAwareGcd(*pq, ZeroAwareGcd(*pm, *qn)), *nm};
}

// s and t with s * a + t * b == gcd(a, b); a and b are positive.
std::pair<int64_t, int64_t> BezoutFactors(int64_t a, int64_t b) {
  std::pair<int64_t, int64_t> s{1, 0}, t{0, 1};
  while (b != 0) {
    const int64_t quotient = a / b;
    a = std::exchange(b, a % b);
    s.first = std::exchange(s.second, s.first - quotient * s.second);
    t.first = std::exchange(t.second, t.first - quotient * t.second);
  }
  return {s.first, t.first};
}

}  // namespace

// a x + p == b y + q, where x is the least such number that is not negative.
ModularSet ModularSet::Intersect(ModularSet other) const {
  if (coeff == 0 || other.coeff == 0) return coeff == 0 ? *this : other;
  const int64_t gcd = ZeroAwareGcd(coeff, other.coeff);
  const auto distance = CheckedSub(FloorModInt(other.base, other.coeff), FloorModInt(base, coeff));
  const auto common = CheckedMul(coeff / gcd, other.coeff);
  if (!distance || !common || *distance % gcd != 0) return *this;
  const int64_t period = other.coeff / gcd;
  const auto steps =
      CheckedMul(FloorModInt(*distance / gcd, period), FloorModInt(BezoutFactors(coeff, other.coeff).first, period));
  const auto offset = steps ? CheckedMul(coeff, *steps % period) : std::nullopt;
  const auto sum = offset ? CheckedAdd(*offset, FloorModInt(base, coeff)) : std::nullopt;
  return sum ? ModularSet{*common, FloorModInt(*sum, *common)} : *this;
}

ModularSet BoundAnalyzer::Modular(const PrimExpr* e) const {
  if (IsShallow(e)) return UncachedModular(e);
  if (const ModularSet* known = residues_.Find(e)) return *known;
  const ModularSet set = UncachedModular(e);
  residues_.Keep(e, set);
  return set;
}

ModularSet BoundAnalyzer::UncachedModular(const PrimExpr* e) const {
  if (IsStackLow()) [[unlikely]]
    return OnFreshStack([&] { return UncachedModular(e); });
  switch (e->kind) {
    case NodeKind::kIntImm: return {0, static_cast<const tir::IntImm*>(e)->value};
    case NodeKind::kPrimVar:
    case NodeKind::kSizeVar: {
      return var_modular_.Lookup(static_cast<const tir::Var*>(e), kAnyInt);
    }
    case NodeKind::kCast: return ModularOfCast(static_cast<const tir::Cast*>(e));
    case NodeKind::kPrimCall: return ModularOfCall(static_cast<const tir::Call*>(e));
    case NodeKind::kLet: return ModularOfLet(static_cast<const tir::Let*>(e));
    case NodeKind::kSelect: {
      const auto* select = static_cast<const tir::Select*>(e);
      return UnionModular(Modular(select->true_value), Modular(select->false_value));
    }
    default:
      if (e->kind >= NodeKind::kAdd && e->kind <= NodeKind::kMax)
        return ModularOfBinary(static_cast<const tir::BinaryExpr*>(e));
      return kAnyInt;
  }
}

// The residues of values that wrap around to the dtype: those modulo a power of two.
static ModularSet Wrapped(ModularSet set, DataType dtype) {
  if (set.coeff == 0) {
    const int64_t value = WrapInteger(set.base, dtype);
    // The number is greater than 64 bits with a sign can hold.
    return dtype.is_uint() && value < 0 ? ModularSet{int64_t{1} << 62, value} : ModularSet{0, value};
  }
  const int64_t least_bit = set.coeff & -set.coeff;
  return {dtype.bits >= 63 ? least_bit : std::min(least_bit, int64_t{1} << dtype.bits), set.base};
}

// A conversion that keeps every value, or one to a float and back that does.
ModularSet BoundAnalyzer::ModularOfCast(const tir::Cast* cast) const {
  const DataType from = cast->value->dtype;
  if (from.is_integer() && cast->dtype.is_integer()) {
    if (cast->dtype.is_bool() && !from.is_bool()) return kAnyInt;
    const bool fits = ValuesIn(Bound(cast->value), from).IsWithin(ValuesIn(cast->dtype));
    const ModularSet set = Modular(cast->value);
    return fits ? set : Wrapped(set, cast->dtype);
  }
  if (from.is_integer()) return from.bits <= ExactBits(cast->dtype) ? Modular(cast->value) : kAnyInt;
  const auto* inner = As<tir::Cast>(cast->value);
  const bool returns = inner && cast->dtype.is_integer() && inner->value->dtype.is_integer() &&
                       inner->value->dtype.bits <= cast->dtype.bits;
  return returns ? ModularOfCast(inner) : kAnyInt;
}

// x >> 2 is x // 4, and x & 3 is x % 4.
ModularSet BoundAnalyzer::ModularOfCall(const tir::Call* call) const {
  const auto* op = As<Op>(call->op);
  const int64_t* right = op && call->args.size() == 2 ? AsInt(call->args[1]) : nullptr;
  if (!right || *right < 0 || !call->dtype.is_integer()) return kAnyInt;
  if (op->id == op::kTirShiftRight && *right < 62) return DivideModular(call->args[0], int64_t{1} << *right, true);
  const bool masks = op->id == op::kTirBitwiseAnd && *right < IntBound::kPosInf;
  if (masks && std::has_single_bit(static_cast<uint64_t>(*right) + 1))
    return ReduceModular(call->args[0], *right + 1, true);
  return kAnyInt;
}

// A sum, difference or product that wraps around is only known modulo a power of two.
ModularSet BoundAnalyzer::ModularOfBinary(const tir::BinaryExpr* e) const {
  const ModularSet set = ExactModularOfBinary(e);
  const DataType element = e->dtype.with_lanes(1);
  const bool wraps = (e->kind == NodeKind::kAdd || e->kind == NodeKind::kSub || e->kind == NodeKind::kMul) &&
                     element.is_integer() && !IsIndexType(element);
  return wraps ? Wrapped(set, element) : set;
}

ModularSet BoundAnalyzer::ExactModularOfBinary(const tir::BinaryExpr* e) const {
  const ModularSet b = Modular(e->b);
  const auto joined = [&](std::optional<int64_t> base, int64_t a_coeff) {
    return base ? ModularSet{ZeroAwareGcd(a_coeff, b.coeff), *base} : kAnyInt;
  };
  switch (e->kind) {
    case NodeKind::kAdd: {
      const ModularSet a = Modular(e->a);
      return joined(CheckedAdd(a.base, b.base), a.coeff);
    }
    case NodeKind::kSub: {
      const ModularSet a = Modular(e->a);
      return joined(CheckedSub(a.base, b.base), a.coeff);
    }
    case NodeKind::kMul: return MulModular(Modular(e->a), b);
    case NodeKind::kMin:
    case NodeKind::kMax: return UnionModular(Modular(e->a), b);
    case NodeKind::kDiv:
    case NodeKind::kFloorDiv:
      return b.coeff == 0 ? DivideModular(e->a, b.base, e->kind == NodeKind::kFloorDiv) : kAnyInt;
    case NodeKind::kMod:
    case NodeKind::kFloorMod:
      return b.coeff == 0 ? ReduceModular(e->a, b.base, e->kind == NodeKind::kFloorMod) : kAnyInt;
    default: return kAnyInt;
  }
}

ModularSet BoundAnalyzer::DivideModular(const PrimExpr* e, int64_t divisor, bool rounds_down) const {
  const ModularSet a = Modular(e);
  if (divisor <= 0 || a.coeff % divisor != 0) return kAnyInt;
  if (a.base == 0) return {a.coeff / divisor, 0};
  if (!rounds_down && Bound(e).min < 0) return kAnyInt;
  return {a.coeff / divisor, FloorDivInt(a.base, divisor)};
}

ModularSet BoundAnalyzer::ReduceModular(const PrimExpr* e, int64_t divisor, bool rounds_down) const {
  const ModularSet a = Modular(e);
  if (divisor <= 0) return kAnyInt;
  const int64_t coeff = ZeroAwareGcd(a.coeff, divisor);
  if (a.base % coeff != 0 && !rounds_down && Bound(e).min < 0) return kAnyInt;
  return {coeff, FloorModInt(a.base, coeff)};
}

}  // namespace iropt::arith
