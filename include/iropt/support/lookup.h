// Hash tables that can be looked up, but not iterated over.
//
// The order of a hash table of pointers differs from run to run, so nothing that is printed may depend on it. These
// tables have no begin and no end: what needs an order is a vector, or is sorted. ForEachInAnyOrder is for the rest.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "iropt/support/hash.h"

namespace iropt {

// std::hash, also of pairs, arrays and vectors of what it hashes.
struct LookupHash {
  // libstdc++ stores the hash of each key in the table unless the hash function is noexcept. For scalars, computing it
  // again is cheaper than the memory.
  template <class T>
  size_t operator()(const T& key) const noexcept(std::is_scalar_v<T>) {
    return std::hash<T>()(key);
  }
  template <class A, class B>
  size_t operator()(const std::pair<A, B>& key) const {
    return HashCombine((*this)(key.first), (*this)(key.second));
  }
  template <class T, size_t kSize>
  size_t operator()(const std::array<T, kSize>& key) const {
    return OfItems(key);
  }
  template <class T>
  size_t operator()(const std::vector<T>& key) const {
    return OfItems(key);
  }

 private:
  template <class List>
  size_t OfItems(const List& key) const {
    uint64_t hash = key.size();
    for (const auto& item : key) hash = HashCombine(hash, (*this)(item));
    return hash;
  }
};

// A std::unordered_map without iterators. References to values stay valid until their keys are erased.
template <class K, class V, class Hash = LookupHash, class Equal = std::equal_to<K>>
class LookupMap {
 public:
  LookupMap() = default;
  LookupMap(std::initializer_list<std::pair<const K, V>> entries) : table_(entries) {}
  // With a hash function, and an equality, that have a state.
  explicit LookupMap(const Hash& hash, const Equal& equal = Equal()) : table_(0, hash, equal) {}

  // The value of the key, or null.
  V* Find(const K& key) {
    const auto it = table_.find(key);
    return it == table_.end() ? nullptr : &it->second;
  }
  const V* Find(const K& key) const { return const_cast<LookupMap*>(this)->Find(key); }
  // The value of the key, or the other one.
  V Lookup(const K& key, V otherwise = V()) const {
    const V* value = Find(key);
    return value ? *value : std::move(otherwise);
  }
  bool contains(const K& key) const { return table_.contains(key); }
  V& at(const K& key) { return table_.at(key); }
  const V& at(const K& key) const { return table_.at(key); }
  V& operator[](const K& key) { return table_[key]; }

  // Adds a value, made from the arguments, unless the key has one. The value of the key, and whether it is new.
  template <class... Args>
  std::pair<V&, bool> try_emplace(const K& key, Args&&... args) {
    const auto [it, is_new] = table_.try_emplace(key, std::forward<Args>(args)...);
    return {it->second, is_new};
  }
  template <class Value>
  V& insert_or_assign(const K& key, Value&& value) {
    return table_.insert_or_assign(key, std::forward<Value>(value)).first->second;
  }
  // Removes the key and returns its value, or V() if it has none.
  V Take(const K& key) {
    auto entry = table_.extract(key);
    return entry.empty() ? V() : std::move(entry.mapped());
  }
  bool erase(const K& key) { return table_.erase(key) != 0; }
  void clear() { table_.clear(); }
  void reserve(size_t size) { table_.reserve(size); }
  size_t size() const { return table_.size(); }
  bool empty() const { return table_.empty(); }

  // For what the order cannot matter to, such as filling another table.
  template <class F>
  void ForEachInAnyOrder(F&& f) const {
    for (const auto& [key, value] : table_) f(key, value);
  }
  template <class F>
  void ForEachInAnyOrder(F&& f) {
    for (auto& [key, value] : table_) f(key, value);
  }
  // Returns whether the condition holds for all entries. It is evaluated in any order, up to the first that fails.
  template <class F>
  bool AllOf(F&& holds) const {
    for (const auto& [key, value] : table_) {
      if (!holds(key, value)) return false;
    }
    return true;
  }
  // Removes the entries for which the condition holds. It is evaluated in any order.
  template <class F>
  void EraseIf(F&& holds) {
    std::erase_if(table_, [&](const auto& entry) { return holds(entry.first, entry.second); });
  }

 private:
  std::unordered_map<K, V, Hash, Equal> table_;
};

// A std::unordered_multimap without iterators. References to values stay valid until the table is cleared.
template <class K, class V, class Hash = LookupHash, class Equal = std::equal_to<K>>
class LookupMultiMap {
 public:
  // Adds a value, made from the arguments, to those of the key.
  template <class... Args>
  V& emplace(const K& key, Args&&... args) {
    return table_
        .emplace(std::piecewise_construct, std::forward_as_tuple(key),
                 std::forward_as_tuple(std::forward<Args>(args)...))
        ->second;
  }
  // Returns a value of the key for which the condition holds, or null. It is evaluated in any order, so that it should
  // hold for one value at most.
  template <class F>
  const V* FindIf(const K& key, F&& holds) const {
    const auto [first, last] = table_.equal_range(key);
    for (auto it = first; it != last; ++it) {
      if (holds(it->second)) return &it->second;
    }
    return nullptr;
  }
  // Visits the values of the key, in any order.
  template <class F>
  void ForEachOf(const K& key, F&& f) const {
    const auto [first, last] = table_.equal_range(key);
    for (auto it = first; it != last; ++it) f(it->second);
  }
  void clear() { table_.clear(); }
  size_t size() const { return table_.size(); }
  bool empty() const { return table_.empty(); }

 private:
  std::unordered_multimap<K, V, Hash, Equal> table_;
};

// A std::unordered_set without iterators.
template <class K, class Hash = LookupHash, class Equal = std::equal_to<K>>
class LookupSet {
 public:
  LookupSet() = default;
  LookupSet(std::initializer_list<K> keys) : table_(keys) {}
  template <class Iterator>
  LookupSet(Iterator first, Iterator last) : table_(first, last) {}

  bool contains(const K& key) const { return table_.contains(key); }
  // Returns whether the key is new.
  bool insert(const K& key) { return table_.insert(key).second; }
  // Adds all keys of another set, or of a list.
  void InsertAll(const LookupSet& other) { table_.insert(other.table_.begin(), other.table_.end()); }
  template <class List>
  void InsertAll(const List& keys) {
    table_.insert(keys.begin(), keys.end());
  }
  bool erase(const K& key) { return table_.erase(key) != 0; }
  void clear() { table_.clear(); }
  void reserve(size_t size) { table_.reserve(size); }
  size_t size() const { return table_.size(); }
  bool empty() const { return table_.empty(); }

  // Visits all keys, for what the order cannot matter to.
  template <class F>
  void ForEachInAnyOrder(F&& f) const {
    for (const K& key : table_) f(key);
  }
  // Returns whether the condition holds for all keys. It is evaluated in any order, up to the first that fails.
  template <class F>
  bool AllOf(F&& holds) const {
    for (const K& key : table_) {
      if (!holds(key)) return false;
    }
    return true;
  }

 private:
  std::unordered_set<K, Hash, Equal> table_;
};

}  // namespace iropt
