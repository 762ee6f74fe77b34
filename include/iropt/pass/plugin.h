// Passes, instruments and operators that are not part of ir-opt: a shared object that registers them.
//
//   #include "iropt/pass/plugin.h"
//
//   static iropt::Status Register(iropt::PassRegistry& registry) {
//     return registry.Add({.info = {.name = "Mine", .opt_level = 1, .kind = iropt::PassKind::Function},
//                          .summary = "what the pass does",
//                          .create = &CreateMine});
//   }
//   IROPT_PASS_PLUGIN("my-passes", "1.0", Register)
//
// `ir-opt -load-pass-plugin=libmine.so` loads it, after which its passes are like those of ir-opt. A plugin links no
// library of ir-opt: the program that loads it provides all definitions, so that there is one copy of all state. It
// must be built with the headers of that program and with the same standard library, which is checked; GCC and Clang
// may be mixed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "iropt/ir/module.h"
#include "iropt/ir/node.h"
#include "iropt/ir/relax/expr.h"
#include "iropt/ir/tir/stmt.h"
#include "iropt/op/ops/table_hash.h"
#include "iropt/pass/context.h"
#include "iropt/pass/instrument.h"
#include "iropt/pass/pass.h"
#include "iropt/pass/pass_options.h"
#include "iropt/pass/registry.h"
#include "iropt/support/arena.h"
#include "iropt/support/result.h"
#include "iropt/support/stack.h"
#include "iropt/support/version.h"

namespace iropt {

// The version of the following declarations. The first field stays the first in all versions.
inline constexpr uint32_t kPassPluginApiVersion = 3;

// The description of a plugin.
struct PassPluginInfo {
  uint32_t api_version;  // kPassPluginApiVersion
  const char* abi;       // plugin_detail::MakeAbi() as the compiler of the plugin sees it
  const char* name;
  const char* version;
  const void* state;  // plugin_detail::StateAddress() as the plugin sees it
  // Adds passes, instruments, configuration options, diagnostic kinds, operators and pipelines. May throw.
  Status (*add)(PassRegistry& registry);
};

// The C function that a plugin has: `extern "C" const iropt::PassPluginInfo* iroptGetPassPluginInfo()`.
inline constexpr const char* kPassPluginEntryPoint = "iroptGetPassPluginInfo";

namespace plugin_detail {

// The address of an inline variable that must be unique in the process. Always inlined, so that it refers to the object
// that it is compiled into.
[[gnu::always_inline]] inline const void* StateAddress() { return &stack_detail::stack_limit; }

// The properties that two builds must share to exchange objects: the version, the standard library, sanitizers that
// change the layout of containers or the use of memory, the layout of shared classes, and the ids of operators.
struct Abi {
  std::array<char, 128> text{};
  size_t size = 0;

  constexpr void Append(std::string_view more) {
    for (const char c : more) text[size++] = c;
  }
  constexpr void AppendHex(uint64_t value) {
    for (int shift = 60; shift >= 0; shift -= 4) text[size++] = "0123456789abcdef"[value >> shift & 15];
  }
};

constexpr uint64_t MixLayout(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3u; }

template <class... T>
constexpr uint64_t MixLayouts(uint64_t hash) {
  ((hash = MixLayout(MixLayout(hash, sizeof(T)), alignof(T))), ...);
  return hash;
}

// The names of node kinds, because sizes alone do not distinguish them.
constexpr uint64_t LayoutHash() {
  constexpr std::string_view kNodeKinds =
#define IROPT_NODE(Kind, Class, Group) #Kind ","
#include "iropt/ir/node_kinds.def"
      ;
  uint64_t hash = MixLayout(0xcbf29ce484222325u, kOperatorTableHash);
  for (const char c : kNodeKinds) hash = MixLayout(hash, static_cast<unsigned char>(c));
  hash = MixLayouts<PassInfo, PassEntry, InstrumentEntry, PipelineEntry, PassRegistry, PassContext, PassInstrument,
                    Pass::Impl, PassResult, FunctionPassContext, ModulePassContext, OptionSpec, PassOptions,
                    OptionValue, Status, Error, OpInfo, OpSpec, DiagnosticKind>(hash);
  hash = MixLayouts<Diagnostic, DiagnosticEngine, Arena, Workspace, Module, ModuleEntry>(hash);
  return MixLayouts<Function, Call, Constant, Var, PrimFunc, tir::Buffer, tir::Block, tir::For>(hash);
}

constexpr Abi MakeAbi() {
  Abi abi;
  abi.Append("ir-opt " IROPT_VERSION ", ");
#if defined(_LIBCPP_VERSION)
  abi.Append("libc++");
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
  abi.Append("libstdc++");
#else
  abi.Append("old libstdc++");
#endif
#if defined(_GLIBCXX_DEBUG)
  abi.Append(" debug");
#endif
#ifdef IROPT_ARENA_POISON
  abi.Append(", address sanitizer");
#endif
#if defined(__SANITIZE_THREAD__)
  abi.Append(", thread sanitizer");
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
  abi.Append(", thread sanitizer");
#endif
#endif
  abi.Append(", layout ");
  abi.AppendHex(LayoutHash());
  return abi;
}

}  // namespace plugin_detail

}  // namespace iropt

// Makes the shared object a plugin: its name and version, both C strings, and the function that adds to a registry.
#define IROPT_PASS_PLUGIN(plugin_name, plugin_version, add_to_registry)                                                \
  extern "C" [[gnu::visibility("default")]] const ::iropt::PassPluginInfo* iroptGetPassPluginInfo();                   \
  extern "C" const ::iropt::PassPluginInfo* iroptGetPassPluginInfo() {                                                 \
    /* Of this object alone: another's variable of the same name would tell of another's build. */                     \
    static constexpr ::iropt::plugin_detail::Abi kAbi = ::iropt::plugin_detail::MakeAbi();                             \
    static ::iropt::PassPluginInfo info;                                                                               \
    info = {::iropt::kPassPluginApiVersion,         kAbi.text.data(), plugin_name, plugin_version,                     \
            ::iropt::plugin_detail::StateAddress(), add_to_registry};                                                  \
    return &info;                                                                                                      \
  }
