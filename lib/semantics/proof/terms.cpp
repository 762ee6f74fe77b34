#include "semantics/proof/terms.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "iropt/ir/element.h"
#include "iropt/support/hash.h"

namespace iropt::proof {

namespace {

uint64_t SkeletonOf(const Term& term) {
  uint64_t hash = HashCombine(static_cast<uint64_t>(term.kind), static_cast<uint64_t>(term.op));
  hash = HashCombine(hash, static_cast<uint64_t>(term.number));
  hash = HashCombine(hash, HashCombine(static_cast<uint64_t>(term.dtype.code), static_cast<uint64_t>(term.dtype.bits)));
  hash = HashCombine(hash, term.attrs ? term.attrs->content_hash : 0);
  hash = HashCombine(hash, HashString(term.text));
  if (term.array) hash = HashCombine(hash, term.array->Hash());
  for (const Term* arg : term.args) hash = HashCombine(hash, arg->skeleton);
  return HashCombine(hash, term.indices.size());
}

uint64_t HashOf(const Term& term) {
  uint64_t hash = term.skeleton;
  for (const Term* arg : term.args) hash = HashCombine(hash, arg->id);
  for (const PrimExpr* index : term.indices) hash = HashCombine(hash, HashMix(reinterpret_cast<uintptr_t>(index)));
  return hash;
}

}  // namespace

std::shared_ptr<const NDArray> Filled(const Term& number, std::span<const int64_t> shape) {
  auto array = NDArray::Make(number.dtype, shape);
  DispatchElement(number.dtype, [&]<class T>(std::type_identity<T>) {
    T element{};
    if constexpr (std::is_integral_v<MathOf<T>>) {
      element = Element<T>::Store(static_cast<MathOf<T>>(number.number));
    } else {
      std::memcpy(static_cast<void*>(&element), &number.number, sizeof(T));
    }
    std::ranges::fill(array->MutableAs<T>(), element);
  });
  return array;
}

bool TermStore::Equal::operator()(const Term* a, const Term* b) const {
  return a->hash == b->hash && a->kind == b->kind && a->dtype == b->dtype && a->op == b->op && a->number == b->number &&
         a->array == b->array && a->args == b->args && a->indices == b->indices && a->text == b->text &&
         AttrEqual(a->attrs, b->attrs);
}

const Term* TermStore::Get(Term term) {
  term.skeleton = SkeletonOf(term);
  term.hash = HashOf(term);
  const auto found = table_.find(&term);
  if (found != table_.end()) return *found;
  term.id = static_cast<uint32_t>(terms_.size());
  const Term* kept = &terms_.emplace_back(std::move(term));
  table_.insert(kept);
  return kept;
}

const NDArray* TermStore::Get(const std::shared_ptr<const NDArray>& array) {
  std::vector<const NDArray*>& same_hash = arrays_by_hash_[array->Hash()];
  for (const NDArray* other : same_hash) {
    if (*other == *array) return other;
  }
  arrays_.push_back(array);
  same_hash.push_back(array.get());
  return array.get();
}

}  // namespace iropt::proof
