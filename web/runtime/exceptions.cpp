// C++ exceptions for WebAssembly: Debian's libc++abi for WASI is built without them. Implements the functions that Clang calls
// with -fwasm-exceptions, of the Itanium C++ ABI (https://itanium-cxx-abi.github.io/cxx-abi/abi-eh.html). The engine unwinds;
// a landing pad asks _Unwind_CallPersonality which of its handlers catches the exception. There is one thread.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <typeinfo>

// The tag of all C++ exceptions; its value is the address of a header.
__asm__(
    ".tagtype __cpp_exception i32\n"
    ".globl __cpp_exception\n"
    "__cpp_exception:\n");

namespace __cxxabiv1 {

// libc++abi's base class of all type_info objects.
class __shim_type_info : public std::type_info {
 public:
  ~__shim_type_info() override;
  virtual void noop1() const;
  virtual void noop2() const;
  // Returns whether a handler of this type catches an object of the other type; sets `object` to what the handler gets.
  virtual bool can_catch(const __shim_type_info* thrown, void*& object) const = 0;
};

}  // namespace __cxxabiv1

namespace {

using TypeInfo = __cxxabiv1::__shim_type_info;

// Lies in front of the object. An exception that std::rethrow_exception throws has a header of its own, without an object.
struct alignas(std::max_align_t) Header {
  Header* primary;  // this one, or the header in front of the object
  const TypeInfo* type;
  void* (*destroy)(void*);  // returns its argument, as all destructors of the target
  size_t references;   // of a primary: handlers, std::exception_ptr and other headers
  int handlers;        // that are running; negative while it is thrown again by the innermost
  Header* outer;       // the exception of the next handler
  void* for_handler;   // the object as the handler's type

  void* object() { return primary + 1; }
};

// A landing pad writes the first two fields and reads the third: 0 for a cleanup, else the number of a type.
struct LandingPad {
  uintptr_t index;
  uintptr_t table;
  uintptr_t selector;
};

Header* caught = nullptr;  // of the innermost handler
unsigned uncaught = 0;

void Release(Header* primary) {
  if (--primary->references != 0) return;
  if (primary->destroy != nullptr) primary->destroy(primary->object());
  std::free(primary);
}

// Of a header that is neither thrown nor caught any more.
void Drop(Header* header) {
  Header* primary = header->primary;
  if (header != primary) std::free(header);
  Release(primary);
}

[[noreturn]] void Throw(Header* header) {
  ++uncaught;
  __builtin_wasm_throw(0, header);
}

// A table of a function, as Clang writes it for the target: no start of landing pads, addresses of types, LEB128 numbers.
class Table {
 public:
  explicit Table(uintptr_t address) : at_(reinterpret_cast<const uint8_t*>(address)) {
    if (*at_++ != kOmitted) std::abort();
    if (*at_++ != kOmitted) {
      const auto to_types = static_cast<uintptr_t>(Number());
      types_ = reinterpret_cast<const TypeInfo* const*>(at_ + to_types);
    }
    ++at_;  // the encoding of the call sites
    const auto size = static_cast<uintptr_t>(Number());
    actions_ = at_ + size;
  }

  // The number of the first type of a landing pad that catches the exception; 0 if none does.
  uintptr_t Find(uintptr_t landing_pad, Header& header) {
    uint64_t action = 0;
    for (uintptr_t i = 0; i <= landing_pad; ++i) {
      Number();
      action = Number();
    }
    if (action == 0) return 0;
    at_ = actions_ + action - 1;
    for (;;) {
      const int64_t type = Signed();
      if (type > 0 && Catches(types_[-type], header)) return static_cast<uintptr_t>(type);
      const uint8_t* const next = at_;
      const int64_t offset = Signed();
      if (offset == 0) return 0;
      at_ = next + offset;
    }
  }

 private:
  static constexpr uint8_t kOmitted = 0xff;

  // A handler without a type catches all.
  static bool Catches(const TypeInfo* type, Header& header) {
    void* object = header.object();
    if (type != nullptr && !type->can_catch(header.type, object)) return false;
    header.for_handler = object;
    return true;
  }

  uint64_t Number() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = *at_++;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  }
  int64_t Signed() {
    int64_t value = 0;
    for (unsigned shift = 0;;) {
      const uint8_t byte = *at_++;
      value |= static_cast<int64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte < 0x80) return (byte & 0x40) != 0 && shift < 64 ? value - (int64_t{1} << shift) : value;
    }
  }

  const uint8_t* at_;
  const uint8_t* actions_ = nullptr;
  const TypeInfo* const* types_ = nullptr;
};

}  // namespace

extern "C" {

LandingPad __wasm_lpad_context = {};

// Only its name is used.
int __gxx_wasm_personality_v0(int) { return 0; }

int _Unwind_CallPersonality(void* header) {
  LandingPad& pad = __wasm_lpad_context;
  pad.selector = Table(pad.table).Find(pad.index, *static_cast<Header*>(header));
  return 0;
}

void* __cxa_allocate_exception(size_t size) noexcept {
  void* memory = std::calloc(1, sizeof(Header) + size);
  if (memory == nullptr) std::terminate();
  return static_cast<Header*>(memory) + 1;
}

void __cxa_free_exception(void* object) noexcept { std::free(static_cast<Header*>(object) - 1); }

[[noreturn]] void __cxa_throw(void* object, std::type_info* type, void* (*destroy)(void*)) {
  Header* header = static_cast<Header*>(object) - 1;
  *header = {.primary = header,
             .type = static_cast<const TypeInfo*>(type),
             .destroy = destroy,
             .references = 1,
             .handlers = 0,
             .outer = nullptr,
             .for_handler = object};
  Throw(header);
}

void* __cxa_get_exception_ptr(void* header) noexcept { return static_cast<Header*>(header)->for_handler; }

void* __cxa_begin_catch(void* thrown) noexcept {
  auto* header = static_cast<Header*>(thrown);
  header->handlers = (header->handlers < 0 ? -header->handlers : header->handlers) + 1;
  if (caught != header) {
    header->outer = caught;
    caught = header;
  }
  --uncaught;
  return header->for_handler;
}

void __cxa_end_catch() {
  Header* header = caught;
  if (header == nullptr) return;
  if (header->handlers < 0) {
    // It is thrown again: the last handler that ends leaves it to the next one.
    if (++header->handlers == 0) caught = header->outer;
    return;
  }
  if (--header->handlers != 0) return;
  caught = header->outer;
  Drop(header);
}

[[noreturn]] void __cxa_rethrow() {
  if (caught == nullptr) std::terminate();
  caught->handlers = -caught->handlers;
  Throw(caught);
}

bool __cxa_uncaught_exception() noexcept { return uncaught != 0; }
unsigned __cxa_uncaught_exceptions() noexcept { return uncaught; }

// std::exception_ptr points to the object of an exception.
void __cxa_increment_exception_refcount(void* object) noexcept {
  if (object != nullptr) ++(static_cast<Header*>(object) - 1)->references;
}
void __cxa_decrement_exception_refcount(void* object) noexcept {
  if (object != nullptr) Release(static_cast<Header*>(object) - 1);
}
void* __cxa_current_primary_exception() noexcept {
  if (caught == nullptr) return nullptr;
  ++caught->primary->references;
  return caught->object();
}
void __cxa_rethrow_primary_exception(void* object) {
  if (object == nullptr) return;
  Header* primary = static_cast<Header*>(object) - 1;
  auto* header = static_cast<Header*>(std::calloc(1, sizeof(Header)));
  if (header == nullptr) std::terminate();
  ++primary->references;
  header->primary = primary;
  header->type = primary->type;
  header->for_handler = object;
  Throw(header);
}

// The one thread ends with the program.
int __cxa_atexit(void (*destroy)(void*), void* object, void* module);
int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* module) { return __cxa_atexit(destroy, object, module); }

std::type_info* __cxa_current_exception_type() {
  return caught == nullptr ? nullptr : const_cast<TypeInfo*>(caught->type);
}

}  // extern "C"

// libc++abi's own cannot throw.
void* operator new(size_t size) {
  for (;;) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
void* operator new[](size_t size) { return ::operator new(size); }
void* operator new(size_t size, std::align_val_t alignment) {
  const auto align = static_cast<size_t>(alignment);
  if (void* memory = std::aligned_alloc(align, (size + align - 1) / align * align)) return memory;
  throw std::bad_alloc();
}
void* operator new[](size_t size, std::align_val_t alignment) { return ::operator new(size, alignment); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size == 0 ? 1 : size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return std::malloc(size == 0 ? 1 : size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
