// Equality and hashing by structure: names of bound variables, source spans and sharing of nodes do not count.
// StructuralEqual compares any nodes. DeepEqual compares scalar expressions, with variables by identity: it is for
// rewrites of an expression, which compare its parts many times.
//
// A definition of a variable matches the definition at the same place (the types must be equal, too); uses must then
// refer to matching definitions. Symbolic variables are defined by their first occurrence in the types of parameters,
// in the type of a match_cast, and in the shapes of buffers. Buffers with the same fields over the same memory are
// equal, whether they are one node or several. A free variable is equal only to itself, unless map_free_vars lets its
// first occurrence match the variable at the same place, as in modules that were read from two texts. Types of
// expressions other than variables follow from their operands and are not compared.
//
// O(nodes), at any depth. Functions that share nodes, as before and after a pass, compare faster.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "iropt/ir/module.h"

namespace iropt {

struct StructuralOptions {
  bool map_free_vars = false;
  // Compares two constants; null: by the bytes of their tensors. For passes to which more counts, or that must not read
  // big files. Hashes are those of the bytes, and read them: they are of use only if equal constants have equal bytes.
  bool (*same_constants)(const Constant& a, const Constant& b) = nullptr;
};

// Null is equal to null only. Modules compare functions by name, whatever their order, and attributes and global infos;
// not their own names.
bool StructuralEqual(const Node* a, const Node* b, StructuralOptions options = {});
bool StructuralEqual(const Module& a, const Module& b, StructuralOptions options = {});

// Returns whether two scalar expressions are the same computation at one place, as TVM's ExprDeepEqual. Variables,
// buffers and expressions that bind variables (Let, Reduce) are equal only to themselves. Numbers compare as numbers:
// 0.0 is equal to -0.0. Null is equal to null only. O(nodes of the trees); O(1) if the outermost nodes are the same or
// of different kinds.
bool DeepEqual(const PrimExpr* a, const PrimExpr* b);
bool DeepEqual(std::span<const PrimExpr* const> a, std::span<const PrimExpr* const> b);

// Equal for nodes that are equal under the same options, and the same in every run.
uint64_t StructuralHash(const Node* node, StructuralOptions options = {});
uint64_t StructuralHash(const Module& module);

// The path to the first difference and the two sides of it, "body.blocks[0].bindings[2].value.op: relax.add,
// relax.multiply"; nothing if they are equal.
std::optional<std::string> FirstDifference(const Node* a, const Node* b, StructuralOptions options = {});
std::optional<std::string> FirstDifference(const Module& a, const Module& b, StructuralOptions options = {});

}  // namespace iropt
