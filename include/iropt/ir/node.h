// The base of all IR nodes: a header of 8 bytes (kind, flags, source span), arena-backed lists, checked casts, and the
// field descriptions from which visitors, mutators, equality, hashing and copying are generated.
//
// Nodes are immutable once published, trivially destructible, and live in an Arena or an IRContext; they are passed as
// `const X*`. A node never owns memory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>

#include "iropt/ir/dtype.h"
#include "iropt/support/check.h"

namespace iropt {

enum class NodeKind : uint8_t {
#define IROPT_NODE(Kind, Class, Group) k##Kind,
#include "iropt/ir/node_kinds.def"
};

#define IROPT_NODE(Kind, Class, Group) +1
inline constexpr int kNumNodeKinds = 0
#include "iropt/ir/node_kinds.def"
    ;

enum class NodeGroup : uint8_t { kType, kAttr, kExpr, kBinding, kBlock, kPrim, kStmt, kPart };

inline constexpr NodeGroup kNodeGroups[] = {
#define IROPT_NODE(Kind, Class, Group) NodeGroup::k##Group,
#include "iropt/ir/node_kinds.def"
};
constexpr NodeGroup GroupOf(NodeKind kind) { return kNodeGroups[static_cast<size_t>(kind)]; }

// Name of the class as in node_kinds.def, for internal messages.
std::string_view NodeKindName(NodeKind kind);

// A half-open range of global source offsets (see SourceManager); begin == 0 means "no source". The length saturates.
struct Span {
  uint32_t begin = 0;
  uint16_t length = 0;
  constexpr bool known() const { return begin != 0; }
  constexpr uint32_t end() const { return begin + length; }
  static constexpr Span Of(uint32_t begin, uint32_t end) {
    return {begin, static_cast<uint16_t>(end - begin > 0xffff ? 0xffff : end - begin)};
  }
};

struct Node {
  NodeKind kind;
  uint8_t flags = 0;
  uint16_t span_length = 0;
  uint32_t span_begin = 0;

  Span span() const { return {span_begin, span_length}; }
  void set_span(Span s) {
    span_begin = s.begin;
    span_length = s.length;
  }

 protected:
  explicit constexpr Node(NodeKind k) : kind(k) {}
};
static_assert(sizeof(Node) == 8);

// An immutable sequence whose elements live in an arena. Trivially copyable; 16 bytes.
template <class T>
struct List {
  const T* first = nullptr;
  uint32_t count = 0;

  constexpr List() = default;
  constexpr List(const T* data, size_t size) : first(data), count(static_cast<uint32_t>(size)) {}
  constexpr List(std::span<T> s) : List(s.data(), s.size()) {}        // NOLINT
  constexpr List(std::span<const T> s) : List(s.data(), s.size()) {}  // NOLINT
  constexpr const T* begin() const { return first; }
  constexpr const T* end() const { return first + count; }
  constexpr uint32_t size() const { return count; }
  constexpr bool empty() const { return count == 0; }
  constexpr const T& operator[](size_t i) const { return first[i]; }
  constexpr const T& front() const { return first[0]; }
  constexpr const T& back() const { return first[count - 1]; }
  constexpr std::span<const T> span() const { return {first, count}; }
  constexpr operator std::span<const T>() const { return span(); }  // NOLINT
  friend constexpr bool operator==(List a, List b) {
    if (a.count != b.count) return false;
    for (uint32_t i = 0; i < a.count; ++i) {
      if (!(a.first[i] == b.first[i])) return false;
    }
    return true;
  }
};

// ---- Casts: Is<Call>(n), As<Call>(n) (null if it is not one), To<Call>(n) (checked). n must not be null for Is and
// To. X::ClassOf(kind) tests whether a kind is an X; a struct of one kind gets it from IROPT_NODE_KIND.
#define IROPT_NODE_KIND(K)                                                                                             \
  static constexpr NodeKind kKind = NodeKind::K;                                                                       \
  static constexpr bool ClassOf(NodeKind k) { return k == kKind; }

template <class X>
constexpr bool Is(const Node* n) {
  return X::ClassOf(n->kind);
}
template <class X>
constexpr const X* As(const Node* n) {
  return n && X::ClassOf(n->kind) ? static_cast<const X*>(n) : nullptr;
}
template <class X>
const X* To(const Node* n) {
  IROPT_CHECK(n && X::ClassOf(n->kind));
  return static_cast<const X*>(n);
}

// ---- Field descriptions. Each node struct has `static constexpr auto Fields()`, the fields in a FieldList, in the
// order in which a structural comparison must see them: definitions come before the uses that they scope over.
enum class FieldRole : uint8_t {
  kUse,      // child nodes, attributes, plain values: compared and visited
  kDef,      // variables (or buffers, iteration variables) that this node introduces: matched, not compared
  kType,     // the type of a variable or the result type: compared when a variable is matched
  kIgnored,  // names and hints: neither compared nor hashed
};

template <class C, class T>
struct Field {
  using Type = T;
  const char* name;
  T C::*member;
  FieldRole role;
};
template <class C, class T>
constexpr Field<C, T> Use(const char* name, T C::*member) {
  return {name, member, FieldRole::kUse};
}
template <class C, class T>
constexpr Field<C, T> Def(const char* name, T C::*member) {
  return {name, member, FieldRole::kDef};
}
template <class C, class T>
constexpr Field<C, T> TypeOf(const char* name, T C::*member) {
  return {name, member, FieldRole::kType};
}
template <class C, class T>
constexpr Field<C, T> Ignored(const char* name, T C::*member) {
  return {name, member, FieldRole::kIgnored};
}

// The result of Fields(): FieldList(a, b)(f) is f(a, b). A closure rather than a std::tuple, because every file that
// includes the nodes pays for it: reading tir/stmt.h takes the compiler half as long.
template <class... F>
constexpr auto FieldList(F... field) {
  return [=](auto&& f) { return f(field...); };
}

// Calls f(field, n->*field.member) for every field of the node, in order.
template <class X, class F>
constexpr void ForEachField(const X* n, F&& f) {
  X::Fields()([&](auto... field) { (f(field, n->*(field.member)), ...); });
}

// Returns whether equal(field, x, y) is true for each field of two nodes of one class; ends at the first that differs.
template <class X, class F>
constexpr bool FieldsEqual(const X& a, const X& b, F&& equal) {
  return X::Fields()([&](auto... field) { return (equal(field, a.*(field.member), b.*(field.member)) && ...); });
}

}  // namespace iropt
