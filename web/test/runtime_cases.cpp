// Prints what exceptions, paths and copies do, for web/test/runtime.py, which compares WebAssembly with the machine.
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

struct Noisy {
  const char* name;
  ~Noisy() { std::printf("~%s, %d uncaught\n", name, std::uncaught_exceptions()); }
};

struct Base {
  virtual ~Base() = default;
  int value = 1;
};
struct Other {
  virtual ~Other() = default;
  int other = 2;
};
struct Derived : Other, Base {};

struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::exception_ptr kept;

void Throw(int kind) {
  const Noisy noisy{"thrower"};
  switch (kind) {
    case 0: throw OwnError("own");
    case 1: throw 5;
    case 2: throw std::bad_alloc();
    case 3: throw Derived();
    case 4: throw std::make_unique<int>(7);
    case 5: throw static_cast<const char*>("text");
    case 6: std::function<void()>()();
    default: break;
  }
}

int Catch(int kind) {
  try {
    const Noisy noisy{"middle"};
    Throw(kind);
  } catch (const std::logic_error&) {
    return 1;
  } catch (const Base& base) {
    std::printf("base %d\n", base.value);
    return 2;
  } catch (const std::runtime_error& error) {
    std::printf("runtime_error %s\n", error.what());
    kept = std::current_exception();
    throw;
  } catch (int number) {
    try {
      throw std::string("inner");
    } catch (const std::string& text) {
      std::printf("%s in %d\n", text.c_str(), number);
    }
    throw;
  } catch (const std::unique_ptr<int>& number) {
    std::printf("unique_ptr %d\n", *number);
    return 3;
  }
  return 0;
}

// A destructor that throws and catches while an exception passes.
struct Careful {
  ~Careful() {
    try {
      throw 1;
    } catch (int) {
      std::printf("caught in a destructor, %d uncaught\n", std::uncaught_exceptions());
    }
  }
};

void Exceptions() {
  for (int kind = 0; kind < 8; ++kind) {
    try {
      const Noisy noisy{"outer"};
      const Careful careful;
      std::printf("returns %d\n", Catch(kind));
    } catch (const OwnError& error) {
      std::printf("own %s\n", error.what());
    } catch (const std::bad_alloc&) {
      std::printf("bad_alloc\n");
    } catch (const std::exception&) {
      std::printf("exception\n");
    } catch (...) {
      std::printf("something\n");
    }
  }
  for (int i = 0; i < 2; ++i) {
    try {
      std::rethrow_exception(kept);
    } catch (const std::exception& first) {
      try {
        std::rethrow_exception(kept);
      } catch (const OwnError& second) {
        std::printf("again %s %s\n", first.what(), second.what());
      }
    }
  }
  kept = nullptr;
  std::once_flag once;
  for (int i = 0; i < 3; ++i) {
    try {
      std::call_once(once, [&] {
        std::printf("once %d\n", i);
        if (i == 0) throw i;
      });
    } catch (int) {
      std::printf("not yet\n");
    }
  }
  std::printf("%d uncaught\n", std::uncaught_exceptions());
}

void Paths() {
  const std::vector<std::string> texts = {"",   "/",   "a",        "a/",   "a/b",   "/a",    "/a/",   "/a//b/../c", "a/./b/..", "../a/..", "a.b",
                                          ".a", "..",  "a/..b",    "a.tar.gz", "./", "a//b", "x/.", "/..",       "../..",    "../../"};
  for (const std::string& text : texts) {
    const fs::path path(text);
    std::printf("%s: %s|%s|%s|%s|%s|%s|%s|%d\n", text.c_str(), path.root_directory().c_str(), path.parent_path().c_str(),
                path.filename().c_str(), path.stem().c_str(), path.extension().c_str(), path.lexically_normal().c_str(),
                fs::path(path).replace_extension("x").c_str(), path.is_absolute() ? 1 : 0);
    for (const std::string& other : texts) {
      std::printf(" %s:%s:%d", other.c_str(), path.lexically_relative(other).c_str(), (path < other) - (fs::path(other) < path));
    }
    std::printf("\n");
  }
}

void Files() {
  std::error_code error;
  const fs::path folder = fs::current_path(error) / "cases";
  std::printf("%d\n", fs::create_directories(folder / "a" / "b", error) ? 1 : 0);
  std::printf("%d %d\n", fs::exists(folder / "a"), fs::exists(folder / "c"));
  std::printf("%s\n", fs::weakly_canonical("cases/a/../a/b/none/x", error).lexically_relative(fs::canonical(".", error)).c_str());
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::printf("%s %d\n", entry.path().filename().c_str(), entry.is_directory() ? 1 : 0);
  }
  try {
    std::printf("%d\n", static_cast<int>(fs::file_size(folder)));
  } catch (const fs::filesystem_error&) {
    std::printf("no size of a folder\n");
  }
  std::printf("%d\n", fs::equivalent("cases/a", "cases/../cases/a", error) ? 1 : 0);
  std::printf("%d %d\n", fs::remove(folder / "a" / "b", error) ? 1 : 0, fs::remove(folder / "none", error) ? 1 : 0);
}

// Copies of all sizes around those that are done otherwise, to places before and behind their sources.
void Copies() {
  constexpr int kMostSize = 140, kMostShift = 70;
  unsigned sum = 0;
  for (int size = 0; size < kMostSize; ++size) {
    for (int shift = -kMostShift; shift <= kMostShift; shift += 7) {
      std::vector<unsigned char> bytes(kMostSize + 2 * kMostShift);
      for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7 + 3);
      std::vector<unsigned char> copy(bytes.size(), 1);
      std::memcpy(copy.data() + 3, bytes.data() + 1, static_cast<size_t>(size));
      std::memmove(bytes.data() + kMostShift + shift, bytes.data() + kMostShift, static_cast<size_t>(size));
      std::memset(copy.data() + kMostSize, shift, static_cast<size_t>(size));
      for (const auto& all : {bytes, copy}) {
        for (const unsigned char byte : all) sum = sum * 31 + byte;
      }
    }
    std::printf("%d: %u\n", size, sum);
  }
}

}  // namespace

int main() {
  Copies();
  Exceptions();
  Paths();
  Files();
  return 0;
}
