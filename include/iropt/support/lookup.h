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
#include <unordered_map>
#include <utility>
#include <vector>

#include "iropt/support/check.h"
#include "iropt/support/hash.h"
#include "iropt/support/lookup_table.h"

namespace iropt {

// std::hash, also of pairs, arrays and vectors of what it hashes.
struct LookupHash {
  template <class T>
  size_t operator()(const T& key) const {
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

// A hash map without iterators. References to values stay valid until their keys are erased.
template <class K, class V, class Hash = LookupHash, class Equal = std::equal_to<K>>
class LookupMap {
 public:
  LookupMap() = default;
  LookupMap(std::initializer_list<std::pair<K, V>> entries) {
    table_.Reserve(entries.size());
    for (const auto& [key, value] : entries) try_emplace(key, value);
  }
  // With a hash function, and an equality, that have a state.
  explicit LookupMap(const Hash& hash, const Equal& equal = Equal()) : table_(hash, equal) {}

  // The value of the key, or null.
  V* Find(const K& key) {
    Entry* entry = table_.Find(key);
    return entry == nullptr ? nullptr : &entry->value;
  }
  const V* Find(const K& key) const { return const_cast<LookupMap*>(this)->Find(key); }
  // The value of the key, or the other one.
  V Lookup(const K& key, V otherwise = V()) const {
    const V* value = Find(key);
    return value ? *value : std::move(otherwise);
  }
  bool contains(const K& key) const { return table_.Find(key) != nullptr; }
  // The table must have the key.
  V& at(const K& key) {
    V* value = Find(key);
    IROPT_CHECK(value != nullptr, "a table without the key");
    return *value;
  }
  const V& at(const K& key) const { return const_cast<LookupMap*>(this)->at(key); }
  V& operator[](const K& key) { return try_emplace(key).first; }

  // Adds a value, made from the arguments, unless the key has one. The value of the key, and whether it is new.
  template <class... Args>
  std::pair<V&, bool> try_emplace(const K& key, Args&&... args) {
    const auto [entry, is_new] = table_.TryEmplace(key, key, std::forward<Args>(args)...);
    return {entry->value, is_new};
  }
  template <class Value>
  V& insert_or_assign(const K& key, Value&& value) {
    const auto [entry, is_new] = table_.TryEmplace(key, key, std::forward<Value>(value));
    if (!is_new) entry->value = std::forward<Value>(value);
    return entry->value;
  }
  // Removes the key and returns its value, or V() if it has none.
  V Take(const K& key) {
    V* value = Find(key);
    if (value == nullptr) return V();
    V taken = std::move(*value);
    table_.Erase(key);
    return taken;
  }
  bool erase(const K& key) { return table_.Erase(key); }
  void clear() { table_.Clear(); }
  void reserve(size_t size) { table_.Reserve(size); }
  size_t size() const { return table_.size(); }
  bool empty() const { return table_.size() == 0; }

  // For what the order cannot matter to, such as filling another table.
  template <class F>
  void ForEachInAnyOrder(F&& f) const {
    table_.AllOf([&](const Entry& entry) { return f(entry.key, entry.value), true; });
  }
  template <class F>
  void ForEachInAnyOrder(F&& f) {
    table_.AllOf([&](Entry& entry) { return f(entry.key, entry.value), true; });
  }
  // Returns whether the condition holds for all entries. It is evaluated in any order, up to the first that fails.
  template <class F>
  bool AllOf(F&& holds) const {
    return table_.AllOf([&](const Entry& entry) { return holds(entry.key, entry.value); });
  }
  // Removes the entries for which the condition holds. It is evaluated in any order.
  template <class F>
  void EraseIf(F&& holds) {
    table_.EraseIf([&](Entry& entry) { return holds(entry.key, entry.value); });
  }

 private:
  struct Entry {
    template <class... Args>
    explicit Entry(const K& k, Args&&... args) : key(k), value(std::forward<Args>(args)...) {}
    const K key;
    V value;
  };
  struct KeyOf {
    const K& operator()(const Entry& entry) const { return entry.key; }
  };
  lookup_detail::Table<K, Entry, KeyOf, Hash, Equal> table_;
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

// A hash set without iterators.
template <class K, class Hash = LookupHash, class Equal = std::equal_to<K>>
class LookupSet {
 public:
  LookupSet() = default;
  LookupSet(std::initializer_list<K> keys) { InsertAll(keys); }
  template <class Iterator>
  LookupSet(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }

  bool contains(const K& key) const { return table_.Find(key) != nullptr; }
  // Returns whether the key is new.
  bool insert(const K& key) { return table_.TryEmplace(key, key).second; }
  // Adds all keys of another set, or of a list.
  void InsertAll(const LookupSet& other) {
    other.ForEachInAnyOrder([this](const K& key) { insert(key); });
  }
  template <class List>
  void InsertAll(const List& keys) {
    for (const K& key : keys) insert(key);
  }
  bool erase(const K& key) { return table_.Erase(key); }
  void clear() { table_.Clear(); }
  void reserve(size_t size) { table_.Reserve(size); }
  size_t size() const { return table_.size(); }
  bool empty() const { return table_.size() == 0; }

  // Visits all keys, for what the order cannot matter to.
  template <class F>
  void ForEachInAnyOrder(F&& f) const {
    table_.AllOf([&](const K& key) { return f(key), true; });
  }
  // Returns whether the condition holds for all keys. It is evaluated in any order, up to the first that fails.
  template <class F>
  bool AllOf(F&& holds) const {
    return table_.AllOf(std::forward<F>(holds));
  }

 private:
  lookup_detail::Table<K, K, std::identity, Hash, Equal> table_;
};

}  // namespace iropt
