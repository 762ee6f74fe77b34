// Every rule of the TIR verifier, broken once.
#include "../catch.h"
#include "graph_maker.h"
#include "iropt/ir/tir/stmt.h"

using namespace iropt;

namespace {

const DataType kInt = DataType::Int(32);

// A PrimFunc under construction: a float32 buffer parameter A of 16 elements, and a body.
class TirMaker {
 public:
  TirMaker() : scope_(context_) {
    handle_ = New<tir::Var>("a", DataType::Handle(), workspace_.NextVarId());
    a_ = MakeBuffer("A", {Int(16)});
  }

  template <class T, class... A>
  const T* New(A&&... args) {
    return workspace_.New<T>(std::forward<A>(args)...);
  }
  Workspace& workspace() { return workspace_; }
  const tir::IntImm* Int(int64_t value) { return New<tir::IntImm>(kInt, value); }
  const tir::IntImm* True() { return New<tir::IntImm>(DataType::Bool(), 1); }
  const tir::Var* NewVar(std::string_view name, DataType dtype = kInt) { return workspace_.NewPrimVar(name, dtype); }
  template <class T>
  List<T> MakeList(std::vector<T> items) {
    return workspace_.Copy(items);
  }

  const tir::Buffer* a() const { return a_; }
  const tir::Buffer* MakeBuffer(std::string_view name, std::vector<const PrimExpr*> shape,
                                const tir::Var* data = nullptr) {
    if (!data) data = workspace_.NewPrimVar(name, DataType::Handle(), tir::PointerInfo::Get(DataType::Float(32)));
    return New<tir::Buffer>(data, DataType::Float(32), workspace_.NextVarId(), MakeList(shape), List<const PrimExpr*>(),
                            Int(0), List<int64_t>(), name, 64, 1, tir::BufferType::kDefault);
  }
  const tir::BufferLoad* Load(const tir::Buffer* b, std::vector<const PrimExpr*> indices,
                              DataType type = DataType::Float(32)) {
    return New<tir::BufferLoad>(type, b, MakeList(indices));
  }
  const tir::Stmt* Store(const PrimExpr* index) {
    return New<tir::BufferStore>(a_, Load(a_, {index}), MakeList<const PrimExpr*>({index}));
  }
  const tir::Stmt* Evaluate(const PrimExpr* e) { return New<tir::Evaluate>(e); }
  const tir::Stmt* Loop(const tir::Var* var, const tir::Stmt* body) {
    return New<tir::For>(var, New<tir::IntImm>(var->dtype, 0), New<tir::IntImm>(var->dtype, 16), tir::ForKind::kSerial,
                         body, nullptr, DictAttr::Empty());
  }
  const tir::Stmt* Seq(std::vector<const tir::Stmt*> stmts) { return New<tir::SeqStmt>(MakeList(stmts)); }
  const tir::IterVar* Iter(const tir::Var* var) {
    return New<tir::IterVar>(New<tir::Range>(Int(0), Int(16)), var, tir::IterVarType::kDataPar);
  }
  const tir::Stmt* Block(std::vector<const tir::IterVar*> iters, std::vector<const PrimExpr*> values,
                         const tir::Stmt* body, std::vector<const tir::Buffer*> allocs = {}) {
    const auto* block =
        New<tir::Block>(MakeList(iters), List<const tir::BufferRegion*>(), List<const tir::BufferRegion*>(), "block",
                        MakeList(allocs), List<const tir::MatchBufferRegion*>(), DictAttr::Empty(), nullptr, body);
    return New<tir::BlockRealize>(MakeList(values), True(), block);
  }
  const tir::Stmt* Thread(const tir::Var* var, std::string_view tag, const tir::Stmt* body) {
    const auto* axis = New<tir::IterVar>(nullptr, var, tir::IterVarType::kThreadIndex, tag);
    return New<tir::AttrStmt>(axis, "thread_extent", Int(16), body);
  }

  void AllowFreeVars() { allow_free_vars_ = true; }
  Errors Verify(const tir::Stmt* body, bool check_types = true) {
    const auto* f = New<PrimFunc>(MakeList<const tir::Var*>({handle_}), MakeList<const tir::Buffer*>({a_}), body,
                                  TupleType::Get(std::vector<const Type*>{}), DictAttr::Empty(), nullptr);
    Module module;
    module.Set(GlobalVar::Get("f"), f, workspace_.Finish());
    DiagnosticBuffer buffer;
    DiagnosticEngine engine(&buffer);
    VerifyModule(module, {.check_types = check_types, .allow_free_vars = allow_free_vars_}, engine);
    Errors errors;
    for (const Diagnostic& d : buffer.diagnostics()) errors.push_back(std::string(d.kind) + ": " + d.message);
    return errors;
  }

 private:
  IRContext context_;
  IRContext::Scope scope_;
  Workspace workspace_;
  bool allow_free_vars_ = false;
  const tir::Var* handle_;
  const tir::Buffer* a_;
};

}  // namespace

TEST_CASE("a loop over a buffer is well-formed", "[analysis]") {
  TirMaker m;
  const tir::Var* i = m.NewVar("i");
  CHECK(m.Verify(m.Loop(i, m.Store(i))) == Errors{});
}

TEST_CASE("loop variables are defined, once, and used in their loop", "[analysis]") {
  TirMaker m;
  const tir::Var* i = m.NewVar("i");
  SECTION("undefined") { CHECK(m.Verify(m.Evaluate(i)) == Errors{"undefined-variable: variable 'i' is not defined"}); }
  SECTION("after the loop") {
    CHECK(m.Verify(m.Seq({m.Loop(i, m.Store(i)), m.Evaluate(i)})) ==
          Errors{"undefined-variable: variable 'i' is used outside of its scope"});
  }
  SECTION("nested") {
    CHECK(m.Verify(m.Loop(i, m.Loop(i, m.Store(i)))) ==
          Errors{"redefined-variable: variable 'i' is defined more than once"});
  }
  SECTION("one after the other") {
    CHECK(m.Verify(m.Seq({m.Loop(i, m.Store(i)), m.Loop(i, m.Store(i))})) ==
          Errors{"redefined-variable: variable 'i' is defined more than once",
                 "undefined-variable: variable 'i' is used outside of its scope"});
  }
}

TEST_CASE("blocks use loop variables through iteration variables", "[analysis]") {
  TirMaker m;
  const tir::Var* i = m.NewVar("i");
  const tir::Var* vi = m.NewVar("vi");
  SECTION("good") { CHECK(m.Verify(m.Loop(i, m.Block({m.Iter(vi)}, {i}, m.Store(vi)))) == Errors{}); }
  SECTION("opaque") { CHECK(m.Verify(m.Loop(i, m.Block({}, {}, m.Store(i)))) == Errors{}); }
  SECTION("bad") {
    CHECK(m.Verify(m.Loop(i, m.Block({m.Iter(vi)}, {i}, m.Evaluate(i)))) ==
          Errors{"loop-variable-in-block: loop variable 'i' is used in block 'block', which is inside the loop and has "
                 "iteration variables"});
  }
  SECTION("loop in the block") {
    const tir::Var* j = m.NewVar("j");
    CHECK(m.Verify(m.Loop(i, m.Block({m.Iter(vi)}, {i}, m.Loop(j, m.Store(j))))) == Errors{});
  }
  SECTION("number of values") {
    CHECK(m.Verify(m.Block({m.Iter(vi)}, {}, m.Store(vi))) ==
          Errors{"block-bindings: block 'block' has 1 iteration variables and 0 values for them"});
  }
}

TEST_CASE("fragments may have free variables if allowed", "[analysis]") {
  TirMaker m;
  m.AllowFreeVars();
  const tir::Var* i = m.NewVar("i");
  SECTION("defined nowhere") { CHECK(m.Verify(m.Seq({m.Evaluate(i), m.Store(i)})) == Errors{}); }
  SECTION("defined later") {
    CHECK(m.Verify(m.Seq({m.Evaluate(i), m.Loop(i, m.Store(i))})) ==
          Errors{"undefined-variable: variable 'i' is used before its definition"});
  }
  SECTION("defined before") {
    CHECK(m.Verify(m.Seq({m.Loop(i, m.Store(i)), m.Evaluate(i)})) ==
          Errors{"undefined-variable: variable 'i' is used outside of its scope"});
  }
}

TEST_CASE("blocks own what they allocate", "[analysis]") {
  TirMaker m;
  const tir::Buffer* b = m.MakeBuffer("B", {m.Int(4)});
  const tir::Stmt* use = m.Evaluate(m.Load(b, {m.Int(0)}));
  SECTION("inside") { CHECK(m.Verify(m.Block({}, {}, use, {b})) == Errors{}); }
  SECTION("outside") {
    CHECK(m.Verify(m.Seq({m.Block({}, {}, m.Store(m.Int(0)), {b}), use})) ==
          Errors{"undefined-variable: variable 'B' is used outside of its scope"});
  }
}

TEST_CASE("several attributes may introduce the variable of one thread axis", "[analysis]") {
  TirMaker m;
  const tir::Var* tx = m.NewVar("threadIdx_x");
  SECTION("one after the other") {
    CHECK(m.Verify(m.Seq({m.Thread(tx, "threadIdx.x", m.Store(tx)), m.Thread(tx, "threadIdx.x", m.Store(tx))})) ==
          Errors{});
  }
  SECTION("nested") {
    const tir::Stmt* inner = m.Seq({m.Thread(tx, "threadIdx.x", m.Store(tx)), m.Store(tx)});
    CHECK(m.Verify(m.Thread(tx, "threadIdx.x", inner)) == Errors{});
  }
}

TEST_CASE("matching a buffer defines the variables of its shape", "[analysis]") {
  TirMaker m;
  const tir::Var* n = m.NewVar("n");
  const tir::Buffer* whole = m.MakeBuffer("W", {n});
  const auto* region =
      m.New<tir::BufferRegion>(m.a(), m.MakeList<const tir::Range*>({m.New<tir::Range>(m.Int(0), m.Int(16))}));
  const auto* match = m.New<tir::MatchBufferRegion>(whole, region);
  const auto make = [&](const tir::Stmt* body) {
    const auto* block =
        m.New<tir::Block>(List<const tir::IterVar*>(), List<const tir::BufferRegion*>(),
                          List<const tir::BufferRegion*>(), "b", List<const tir::Buffer*>(),
                          m.MakeList<const tir::MatchBufferRegion*>({match}), DictAttr::Empty(), nullptr, body);
    return m.New<tir::BlockRealize>(List<const PrimExpr*>(), m.True(), block);
  };
  SECTION("inside") { CHECK(m.Verify(make(m.Evaluate(n))) == Errors{}); }
  SECTION("outside") {
    CHECK(m.Verify(m.Seq({make(m.Evaluate(n)), m.Evaluate(n)})) ==
          Errors{"undefined-variable: variable 'n' is used outside of its scope"});
  }
}

TEST_CASE("constants fit in their dtypes", "[analysis]") {
  const auto verify = [](DataType dtype, int64_t value) {
    TirMaker m;
    return m.Verify(m.Evaluate(m.New<tir::IntImm>(dtype, value)));
  };
  for (const DataType dtype : {DataType::Int(8), DataType::Int(32), DataType::Int(64)})
    CHECK(verify(dtype, -1) == Errors());
  for (const DataType dtype : {DataType::UInt(8), DataType::UInt(32), DataType::UInt(64)})
    CHECK(verify(dtype, -1) == Errors{"type-mismatch: the constant -1 does not fit in '" + dtype.ToString() + "'"});
  CHECK(verify(DataType::Int(8), 128) == Errors{"type-mismatch: the constant 128 does not fit in 'int8'"});
  CHECK(verify(DataType::UInt(8), 255) == Errors());
}

TEST_CASE("operands have the types that their operation asks for", "[analysis]") {
  TirMaker m;
  const PrimExpr* one = m.Int(1);
  const PrimExpr* real = m.New<tir::FloatImm>(DataType::Float(32), 1.0);
  const auto bad = [](const char* message) { return Errors{std::string("operand-type: ") + message}; };
  SECTION("binary") {
    const auto* sum = m.New<tir::Add>(one, real);
    CHECK(m.Verify(m.Evaluate(sum), false) == Errors{});
  }
  SECTION("binary, checked") {
    CHECK(m.Verify(m.Evaluate(m.New<tir::Add>(one, real))) == bad("the operands have the types int32 and float32"));
  }
  SECTION("logic") {
    CHECK(m.Verify(m.Evaluate(m.New<tir::And>(one, one))) == bad("a condition has the type int32, not bool"));
  }
  SECTION("negation") {
    CHECK(m.Verify(m.Evaluate(m.New<tir::Not>(one))) == bad("a condition has the type int32, not bool"));
  }
  SECTION("selection") {
    CHECK(m.Verify(m.Evaluate(m.New<tir::Select>(m.True(), one, real))) ==
          bad("the two values of a selection have the types int32 and float32"));
  }
  SECTION("condition of a selection") {
    CHECK(m.Verify(m.Evaluate(m.New<tir::Select>(one, one, one))) == bad("a condition has the type int32, not bool"));
  }
  SECTION("cast") {
    CHECK(m.Verify(m.Evaluate(m.New<tir::Cast>(DataType::Float(32, 4), one))) ==
          bad("a cast from int32 to float32x4 changes the number of lanes"));
  }
  SECTION("loop") {
    CHECK(m.Verify(m.New<tir::For>(m.NewVar("i"), m.Int(0), m.New<tir::IntImm>(DataType::Int(64), 3),
                                   tir::ForKind::kSerial, m.Evaluate(one), nullptr, DictAttr::Empty())) ==
          bad("a loop variable and the extent of the loop have the types int32 and int64"));
  }
  SECTION("let") {
    CHECK(m.Verify(m.New<tir::LetStmt>(m.NewVar("x"), real, m.Evaluate(one))) ==
          bad("a variable and its value have the types int32 and float32"));
  }
  SECTION("assertion") {
    CHECK(m.Verify(m.New<tir::AssertStmt>(one, m.New<tir::StringImm>("no"), m.Evaluate(one))) ==
          bad("a condition has the type int32, not bool"));
  }
  SECTION("store") {
    CHECK(m.Verify(m.New<tir::BufferStore>(m.a(), one, m.MakeList<const PrimExpr*>({one}))) ==
          bad("a value of type int32 is stored to buffer 'A', which takes float32"));
  }
  SECTION("load") {
    CHECK(m.Verify(m.Evaluate(m.Load(m.a(), {one}, DataType::Float(64)))) ==
          bad("a load of type float64 from buffer 'A' gives float32"));
  }
  SECTION("predicate") {
    CHECK(m.Verify(m.New<tir::BufferStore>(m.a(), real, m.MakeList<const PrimExpr*>({one}), one)) ==
          bad("a predicate of type int32 does not fit an access of type float32"));
  }
}

TEST_CASE("a vector index gives a vector", "[analysis]") {
  TirMaker m;
  const auto* ramp = m.New<tir::Ramp>(DataType::Int(32, 4), m.Int(0), m.Int(1), m.Int(4));
  SECTION("good") { CHECK(m.Verify(m.Evaluate(m.Load(m.a(), {ramp}, DataType::Float(32, 4)))) == Errors{}); }
  SECTION("bad") {
    CHECK(m.Verify(m.Evaluate(m.Load(m.a(), {ramp}))) ==
          Errors{"operand-type: a load of type float32 from buffer 'A' gives float32x4"});
  }
  SECTION("only the last one") {
    const tir::Buffer* b = m.MakeBuffer("B", {m.Int(4), m.Int(4)});
    const auto* load = m.Load(b, {ramp, m.Int(0)}, DataType::Float(32, 4));
    CHECK(m.Verify(m.Block({}, {}, m.Evaluate(load), {b})) ==
          Errors{"operand-type: index 0 of buffer 'B' is a vector, but only the last one can be"});
  }
}

TEST_CASE("a buffer has as many indices as dimensions", "[analysis]") {
  TirMaker m;
  CHECK(m.Verify(m.Evaluate(m.Load(m.a(), {m.Int(0), m.Int(0)}))) ==
        Errors{"index-count: buffer 'A' has 1 dimensions and 2 indices"});
}

TEST_CASE("calls of functions name functions of the module", "[analysis]") {
  TirMaker m;
  const auto* call = m.New<tir::Call>(kInt, GlobalVar::Get("absent"), List<const PrimExpr*>());
  CHECK(m.Verify(m.Evaluate(call)) == Errors{"unknown-function: the module has no function 'absent'"});
}

// So deep that the sanitizers, whose frames are much bigger, still have memory for it.
TEST_CASE("deeply nested statements and operations do not overflow the stack", "[analysis]") {
  TirMaker m;
  const PrimExpr* deep = m.Int(0);
  for (int i = 0; i < 300'000; ++i) deep = m.New<tir::Add>(deep, m.Int(1));
  const tir::Stmt* body = m.Evaluate(deep);
  for (int i = 0; i < 300'000; ++i) body = m.New<tir::IfThenElse>(m.True(), body, nullptr);
  CHECK(m.Verify(body) == Errors{});
}
