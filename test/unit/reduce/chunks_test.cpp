// Delta debugging over chunks of edits.
#include "reduce/chunks.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "catch.h"
#include "reduce/edits.h"

namespace iropt {

namespace {

// Makes the edits of all sizes down to 1, as the reducer does; interesting as long as none of `needed` is made.
struct Search {
  std::set<size_t> needed = {};
  size_t candidates = 0;

  bool IsInteresting(const std::vector<bool>& made, const Chunk& chunk) {
    ++candidates;
    return std::ranges::none_of(needed, [&](size_t i) { return made[i] || (chunk.begin <= i && i < chunk.end); });
  }

  std::vector<bool> Run(size_t count, size_t size) {
    return MakeChunks(count, size, [&](const std::vector<bool>& made, const std::vector<Chunk>& chunks) {
      for (size_t i = 0; i < chunks.size(); ++i) {
        if (IsInteresting(made, chunks[i])) return std::optional<size_t>(i);
      }
      return std::optional<size_t>();
    });
  }
};

size_t CountMade(const std::vector<bool>& made) { return static_cast<size_t>(std::ranges::count(made, true)); }

}  // namespace

TEST_CASE("edits are made in one chunk if none is needed") {
  Search search;
  CHECK(CountMade(search.Run(100, 100)) == 100);
  CHECK(search.candidates == 1);
}

TEST_CASE("a chunk with a needed edit stays, and those after it are made") {
  Search search{.needed = {3}};
  const std::vector<bool> made = search.Run(10, 2);
  CHECK(made == std::vector<bool>{true, true, false, false, true, true, true, true, true, true});
  CHECK(search.candidates == 5);
}

TEST_CASE("the last chunk may be smaller") {
  Search search{.needed = {0}};
  CHECK(search.Run(5, 3) == std::vector<bool>{false, false, false, true, true});
}

TEST_CASE("no edits need no test") {
  Search search;
  CHECK(search.Run(0, 1).empty());
  CHECK(search.candidates == 0);
}

TEST_CASE("edits of size one leave exactly the needed ones") {
  Search search{.needed = {0, 17, 18, 63}};
  const std::vector<bool> made = search.Run(64, 1);
  CHECK(CountMade(made) == 60);
  for (const size_t i : search.needed) CHECK(!made[i]);
  CHECK(search.candidates == 64);
}

TEST_CASE("candidates build on the edits that were made before") {
  // Edits 1 and 2 cannot be made together.
  const std::vector<bool> made =
      MakeChunks(3, 1, [](const std::vector<bool>& before, const std::vector<Chunk>& chunks) {
        for (size_t i = 0; i < chunks.size(); ++i) {
          if (chunks[i] != Chunk{2, 3} || !before[1]) return std::optional<size_t>(i);
        }
        return std::optional<size_t>();
      });
  CHECK(made == std::vector<bool>{true, true, false});
}

TEST_CASE("edits keep their numbers whatever is chosen") {
  const int first = 0;
  const int second = 0;
  Edits edits;
  CHECK(!edits.Take(&first));
  CHECK(!edits.Take(&second, 1));
  CHECK(!edits.Take(&second, 1));
  CHECK(!edits.Take(&first, 2));
  CHECK(edits.size() == 3);
  edits.Choose({false, true, true});
  CHECK(edits.Take(&first, 2));
  CHECK(edits.Take(&second, 1));
  CHECK(!edits.Take(&first));
  CHECK(!edits.Take(&second));
  CHECK(edits.size() == 3);
}

}  // namespace iropt
