// Optimizes LLVM modules, compiles them to machine code, and loads it with ORC.
#include "backend.h"

#include <fmt/format.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/DiagnosticHandler.h>
#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/xxhash.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "byte_divisions.h"
#include "module_emitter.h"
#include "vectorizer_guard.h"

namespace iropt::codegen {

namespace {

Error LlvmError(std::string_view what, llvm::Error error) {
  return {ErrorCode::Internal, fmt::format("{}: {}", what, llvm::toString(std::move(error)))};
}

// Discards the remarks of LLVM.
struct SilentHandler final : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo&) override { return true; }
};

Result<std::unique_ptr<llvm::TargetMachine>> MakeMachine(llvm::orc::JITTargetMachineBuilder builder) {
  llvm::Expected<std::unique_ptr<llvm::TargetMachine>> machine = builder.createTargetMachine();
  if (!machine) return LlvmError("cannot compile for this host", machine.takeError());
  return std::move(*machine);
}

// Makes the builder of the host one of another processor, of which the host has all instructions.
Status SetProcessor(llvm::orc::JITTargetMachineBuilder& builder, const std::string& cpu) {
  // LLVM takes an unknown name for that of the least processor.
  IROPT_ASSIGN_OR_RETURN(std::unique_ptr<llvm::TargetMachine> machine, MakeMachine(builder));
  if (!machine->getMCSubtargetInfo()->isCPUStringValid(cpu))
    return Error{ErrorCode::Usage,
                 fmt::format("unknown processor '{}': expected a name of LLVM's, as of clang -mcpu", cpu)};
  builder.setCPU(cpu);
  builder.setFeatures("");
  IROPT_ASSIGN_OR_RETURN(machine, MakeMachine(builder));
  const llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const llvm::SubtargetFeatureKV& feature : machine->getMCSubtargetInfo()->getEnabledProcessorFeatures()) {
    const auto found = host.find(feature.Key);
    if (found != host.end() && !found->second)
      return Error{ErrorCode::Usage, fmt::format("code for the processor '{}' cannot run: the host lacks '{}'", cpu,
                                                 found->first().str())};
  }
  return {};
}

class Target {
 public:
  static Result<Target> Find(const std::string& cpu) {
    static std::once_flag initialized;
    std::call_once(initialized, [] {
      llvm::InitializeNativeTarget();
      llvm::InitializeNativeTargetAsmPrinter();
    });
    llvm::Expected<llvm::orc::JITTargetMachineBuilder> builder = llvm::orc::JITTargetMachineBuilder::detectHost();
    if (!builder) return LlvmError("cannot compile for this host", builder.takeError());
    if (!cpu.empty()) IROPT_RETURN_IF_ERROR(SetProcessor(*builder, cpu));
    builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
    builder->setRelocationModel(llvm::Reloc::PIC_);
    builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Standard;
    Target target(std::move(*builder));
    IROPT_ASSIGN_OR_RETURN(const std::unique_ptr<llvm::TargetMachine> machine, target.MakeMachine());
    target.layout_ = machine->createDataLayout();
    const auto has = [&](const char* feature) { return machine->getMCSubtargetInfo()->checkFeatures(feature); };
    constexpr unsigned kLanes128 = 4, kLanes256 = 8, kLanes512 = 16;
    target.cpu_.has_half = has("+f16c");
    if (machine->getTargetTriple().isX86()) {
      target.cpu_.pair_dot_lanes = has("+avx512bw") ? kLanes512 : has("+avx2") ? kLanes256 : kLanes128;
      target.cpu_.byte_dot_lanes = has("+avx512vnni,+avx512vl") ? kLanes512 : has("+avxvnni") ? kLanes256 : 0;
    }
    return target;
  }

  Result<std::unique_ptr<llvm::TargetMachine>> MakeMachine() const { return codegen::MakeMachine(builder_); }
  const llvm::orc::JITTargetMachineBuilder& builder() const { return builder_; }
  const llvm::DataLayout& layout() const { return layout_; }
  const CpuFeatures& cpu() const { return cpu_; }
  // The part of the cache key besides the module.
  std::string Description(int opt_level) const {
    return fmt::format("LLVM:{}:{}:{}:{}:O{}:wide_bytes:no_wrapping_steps", LLVM_VERSION_STRING,
                       builder_.getTargetTriple().str(), builder_.getCPU(), builder_.getFeatures().getString(),
                       opt_level);
  }

 private:
  explicit Target(llvm::orc::JITTargetMachineBuilder builder) : builder_(std::move(builder)), layout_("") {}

  llvm::orc::JITTargetMachineBuilder builder_;
  llvm::DataLayout layout_;
  CpuFeatures cpu_;
};

// An LLVM module under construction. Each has its own LLVMContext, so that several threads can compile.
struct Unit {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  std::unique_ptr<llvm::TargetMachine> machine;
  bool is_deep = false;  // loops are nested too deeply for LLVM's loop passes

  // The compile time of some passes and of the instruction scheduler is quadratic in the size of a basic block, and
  // grows faster with the depth of loops.
  int AffordableLevel(int level) const {
    static constexpr unsigned kLargeFunction = 20000;  // instructions
    if (is_deep) return 0;
    const bool is_large = std::ranges::any_of(
        *module, [](const llvm::Function& function) { return function.getInstructionCount() > kLargeFunction; });
    return is_large ? std::min(level, 1) : level;
  }

  // `joins_scalars`: also vectorizes code outside of loops. False if the result is invalid, by a bug of LLVM.
  bool Optimize(int wanted, bool joins_scalars) {
    const int level = AffordableLevel(wanted);
    if (level < wanted) machine->setOptLevel(llvm::CodeGenOptLevel::None);
    llvm::PipelineTuningOptions tuning;
    tuning.LoopVectorization = tuning.LoopInterleaving = tuning.LoopUnrolling = level > 1;
    tuning.SLPVectorization = level > 1 && joins_scalars;
    llvm::PassBuilder passes(machine.get(), tuning);
    GuardVectorizer(passes);
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    passes.registerModuleAnalyses(modules);
    passes.registerCGSCCAnalyses(components);
    passes.registerFunctionAnalyses(functions);
    passes.registerLoopAnalyses(loops);
    passes.crossRegisterProxies(loops, functions, components, modules);
    static constexpr const llvm::OptimizationLevel* kLevels[] = {
        &llvm::OptimizationLevel::O0, &llvm::OptimizationLevel::O1, &llvm::OptimizationLevel::O2,
        &llvm::OptimizationLevel::O3};
    const llvm::OptimizationLevel chosen = *kLevels[std::clamp(level, 0, 3)];
    llvm::ModulePassManager pipeline =
        level <= 0 ? passes.buildO0DefaultPipeline(chosen) : passes.buildPerModuleDefaultPipeline(chosen);
    pipeline.run(*module, modules);
    WidenByteDivisions(*module);
    return !llvm::verifyModule(*module);
  }

  Result<llvm::SmallVector<char, 0>> Generate() {
    llvm::SmallVector<char, 0> object;
    llvm::raw_svector_ostream stream(object);
    llvm::legacy::PassManager passes;
    if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
      return Error{ErrorCode::Internal, "LLVM cannot emit object files for this host"};
    passes.run(*module);
    return object;
  }

  std::string Key(const std::string& description) const {
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream stream(bytes);
    llvm::WriteBitcodeToFile(*module, stream);
    stream << description;
    const llvm::XXH128_hash_t hash =
        llvm::xxh3_128bits(llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
  }

  std::string Text() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, nullptr);
    return text;
  }
};

// Owns the JITDylib of one function.
class LoadedCode final : public LoopCode {
 public:
  LoadedCode(llvm::orc::ExecutionSession& session, llvm::orc::JITDylib& library)
      : session_(session), library_(library) {}
  ~LoadedCode() override { llvm::consumeError(session_.removeJITDylib(library_)); }

 private:
  llvm::orc::ExecutionSession& session_;
  llvm::orc::JITDylib& library_;
};

class OrcBackend final : public LoopBackend {
 public:
  explicit OrcBackend(Target target) : target_(std::move(target)) {}

  Status Start(const LoopRuntime& runtime) {
    llvm::orc::LLJITBuilder builder;
    builder.setJITTargetMachineBuilder(target_.builder());
    builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
    llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>> jit = builder.create();
    if (!jit) return LlvmError("cannot start LLVM ORC", jit.takeError());
    jit_ = std::move(*jit);
    llvm::orc::SymbolMap symbols;
    const auto* addresses = reinterpret_cast<void* const*>(&runtime);
    for (size_t i = 0; i < std::size(kRuntimeSymbols); ++i) {
      symbols[jit_->mangleAndIntern(kRuntimeSymbols[i])] = {
          llvm::orc::ExecutorAddr::fromPtr(addresses[i]),
          llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable};
    }
    if (llvm::Error error = jit_->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(symbols))))
      return LlvmError("cannot define the runtime symbols", std::move(error));
    auto process = llvm::orc::DynamicLibrarySearchGenerator::GetForCurrentProcess(target_.layout().getGlobalPrefix());
    if (!process) return LlvmError("cannot look up symbols of the C library", process.takeError());
    jit_->getMainJITDylib().addGenerator(std::move(*process));
    return {};
  }

  Result<std::unique_ptr<LoopCode>> Compile(const CompileRequest& request, ObjectStore* store) override {
    IROPT_ASSIGN_OR_RETURN(std::unique_ptr<Unit> unit, MakeUnit(request));
    const std::string key = store ? unit->Key(target_.Description(request.opt_level)) : std::string();
    if (const std::string object = store ? store->Load(key) : std::string(); !object.empty()) {
      Result<std::unique_ptr<LoopCode>> code = Load(object);
      if (code) {
        (*code)->from_store = true;
        return code;
      }
    }
    IROPT_RETURN_IF_ERROR(Optimize(request, unit));
    IROPT_ASSIGN_OR_RETURN(const auto object, unit->Generate());
    const std::string_view bytes(object.data(), object.size());
    if (store) store->Store(key, bytes);
    return Load(bytes);
  }

  Result<std::string> EmitLlvm(const CompileRequest& request, bool optimized) override {
    IROPT_ASSIGN_OR_RETURN(std::unique_ptr<Unit> unit, MakeUnit(request));
    if (optimized) IROPT_RETURN_IF_ERROR(Optimize(request, unit));
    return unit->Text();
  }

 private:
  Result<std::unique_ptr<Unit>> MakeUnit(const CompileRequest& request) {
    auto unit = std::make_unique<Unit>();
    unit->context.setDiagnosticHandler(std::make_unique<SilentHandler>());
    IROPT_ASSIGN_OR_RETURN(unit->machine, target_.MakeMachine());
    IROPT_ASSIGN_OR_RETURN(EmittedModule emitted, EmitModule(request, unit->context, target_.layout(), target_.cpu()));
    unit->module = std::move(emitted.module);
    unit->is_deep = emitted.is_deep;
#if LLVM_VERSION_MAJOR >= 21
    unit->module->setTargetTriple(unit->machine->getTargetTriple());
#else
    unit->module->setTargetTriple(unit->machine->getTargetTriple().str());
#endif
    return unit;
  }

  // Some functions are broken by the passes of LLVM 22, whose code generator would crash then: the attention of
  // test/run/compiled_attention.ir, by joining scalar instructions. They are emitted again and optimized less.
  Status Optimize(const CompileRequest& request, std::unique_ptr<Unit>& unit) {
    struct Attempt {
      int level;
      bool joins_scalars;
    };
    for (const Attempt attempt :
         {Attempt{request.opt_level, true}, Attempt{request.opt_level, false}, Attempt{1, false}}) {
      if (unit->Optimize(std::min(attempt.level, request.opt_level), attempt.joins_scalars)) return {};
      IROPT_ASSIGN_OR_RETURN(unit, MakeUnit(request));
    }
    if (unit->Optimize(0, false)) return {};
    return Error{ErrorCode::Internal, "LLVM makes invalid code of the function"};
  }

  Result<std::unique_ptr<LoopCode>> Load(std::string_view object) {
    llvm::orc::ExecutionSession& session = jit_->getExecutionSession();
    llvm::Expected<llvm::orc::JITDylib&> library = session.createJITDylib(fmt::format("function{}", next_library_++));
    if (!library) return LlvmError("cannot load machine code", library.takeError());
    library->addToLinkOrder(jit_->getMainJITDylib());
    auto code = std::make_unique<LoadedCode>(session, *library);
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "loops");
    if (llvm::Error error = jit_->addObjectFile(*library, std::move(buffer)))
      return LlvmError("cannot load machine code", std::move(error));
    llvm::Expected<llvm::orc::ExecutorAddr> entry = jit_->lookup(*library, kEntrySymbol);
    if (!entry) return LlvmError("cannot load machine code", entry.takeError());
    code->entry = entry->toPtr<LoopEntry>();
    return std::unique_ptr<LoopCode>(std::move(code));
  }

  Target target_;
  std::unique_ptr<llvm::orc::LLJIT> jit_;
  std::atomic<uint64_t> next_library_ = 0;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) LoopBackend*
iropt_make_loop_backend(  // NOLINT(readability-identifier-naming)
    uint32_t version, const char* cpu, const LoopRuntime* runtime, std::string* error) {
  if (version != kBackendVersion) {
    *error = fmt::format("it has version {}, expected {}", kBackendVersion, version);
    return nullptr;
  }
  Result<Target> target = Target::Find(cpu);
  if (!target) {
    *error = target.error().message;
    return nullptr;
  }
  auto backend = std::make_unique<OrcBackend>(*std::move(target));
  if (const Status started = backend->Start(*runtime); !started) {
    *error = started.error().message;
    return nullptr;
  }
  return backend.release();
}

}  // namespace iropt::codegen
