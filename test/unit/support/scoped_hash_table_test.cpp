#include "iropt/support/scoped_hash_table.h"

#include <random>
#include <unordered_map>

#include "catch.h"
#include "iropt/support/hash.h"

namespace iropt {
namespace {

struct Entry {
  int key;
  int value;
  uint32_t hash;
};
using Table = ScopedHashTable<Entry>;

// Few different hashes, so that entries collide.
Entry MakeEntry(int key, int value) {
  return {key, value, static_cast<uint32_t>(HashMix(static_cast<uint64_t>(key % 7)))};
}

size_t Find(const Table& table, int key) {
  return table.Find(MakeEntry(key, 0).hash, [key](const Entry& entry) { return entry.key == key; });
}

TEST_CASE("a scoped hash table undoes the changes of a scope", "[support]") {
  Table table;
  CHECK(Find(table, 1) == table.kNone);
  table.Add(MakeEntry(1, 10));
  {
    const Table::Scope outer(table);
    table.Add(MakeEntry(8, 80));
    table.Set(Find(table, 1), MakeEntry(1, 11));
    {
      const Table::Scope inner(table);
      table.Set(Find(table, 1), MakeEntry(1, 12));
      table.Set(Find(table, 8), MakeEntry(8, 82));
      table.Add(MakeEntry(15, 150));
      CHECK(table[Find(table, 1)].value == 12);
      CHECK(table.size() == 3);
    }
    CHECK(table[Find(table, 1)].value == 11);
    CHECK(table[Find(table, 8)].value == 80);
    CHECK(Find(table, 15) == table.kNone);
  }
  CHECK(table[Find(table, 1)].value == 10);
  CHECK(Find(table, 8) == table.kNone);
  CHECK(table.size() == 1);
}

// Compares a table in nested scopes with copies of a map.
void CompareWithMap(Table& table, std::unordered_map<int, int> expected, std::mt19937& random, int depth) {
  const Table::Scope scope(table);
  for (int step = 0; step < 60; ++step) {
    const int key = static_cast<int>(random() % 200);
    const int value = static_cast<int>(random());
    const size_t index = Find(table, key);
    REQUIRE((index != table.kNone) == expected.contains(key));
    if (index != table.kNone) REQUIRE(table[index].value == expected.at(key));
    if (index == table.kNone) {
      table.Add(MakeEntry(key, value));
    } else {
      table.Set(index, MakeEntry(key, value));
    }
    expected[key] = value;
    if (depth < 4 && random() % 20 == 0) CompareWithMap(table, expected, random, depth + 1);
  }
  for (const auto& [key, value] : expected) REQUIRE(table[Find(table, key)].value == value);
}

TEST_CASE("a scoped hash table does what copies of a map do", "[support]") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    Table table;
    CompareWithMap(table, {}, random, 0);
    CHECK(table.empty());
  }
}

}  // namespace
}  // namespace iropt
