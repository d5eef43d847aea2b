// Expressions of the debugger. What they must give, the compiler of the test computes from the same text.
#include <bit>
#include <cmath>

#include "debugger_lane.h"
#include "gpu/types.h"

namespace {

using namespace debugger_test;

// The tests compute what such expressions give.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wconversion"

// Same bytes and same size of the result as in C++; CHECK_CXX(a + b) evaluates `a + b` twice.
#define CHECK_CXX(...)                                                                                  \
  do {                                                                                                  \
    const auto expected = __VA_ARGS__;                                                                  \
    const auto actual = s.get<std::remove_const_t<decltype(expected)>>(#__VA_ARGS__);                   \
    EXPECT_EQ(std::memcmp(&expected, &actual, sizeof expected), 0) << #__VA_ARGS__ << " = " << +actual; \
  } while (false)

// Variables of C++ and of the scene with the same names and values.
class InScene : public testing::Test {
 protected:
  template <class T>
  T declare(const char* name, TypeId type, T value) {
    const std::uint64_t at = next_;
    next_ += 16;
    s.lane.put({StateSpace::local, at}, value);
    s.lane.variables[static_cast<std::uint32_t>(at)] = at;
    s.symbols.local(name, type,
                    debuginfo::InVariable{StateSpace::local, ptx::Scope::function, static_cast<std::uint32_t>(at), 0});
    return value;
  }
  Scene s;
  std::uint64_t next_ = 16;
};

using DebuggerExpression = InScene;

TEST_F(DebuggerExpression, NumbersHaveTheTypesOfC) {
  CHECK_CXX(1);
  CHECK_CXX(0x80000000);
  CHECK_CXX(2147483648);
  CHECK_CXX(0xffffffffffffffff);
  CHECK_CXX(017);
  CHECK_CXX(0b101);
  CHECK_CXX(7u);
  CHECK_CXX(7ull);
  CHECK_CXX(1.5f);
  CHECK_CXX(1e10);
  CHECK_CXX(.25);
  CHECK_CXX(0.1f);
  CHECK_CXX('a');
  CHECK_CXX('\n');
  CHECK_CXX('\x41');
  CHECK_CXX('\'');
  CHECK_CXX(true);
  CHECK_CXX(sizeof(int));
  CHECK_CXX(sizeof(unsigned long long));
}

TEST_F(DebuggerExpression, OperatorsConvertAsInC) {
  const int i = declare("i", s.t_int, -7);
  const unsigned u = declare("u", s.t_unsigned, 3u);
  const long l = declare("l", s.t_long, -5'000'000'000l);
  const char c = declare("c", s.t_char, char('z'));
  const bool b = declare("b", s.t_bool, true);
  const float f = declare("f", s.t_float, 0.1f);
  const double d = declare("d", s.t_double, 0.1);
  const short h = declare("h", s.t_short, short(-300));
  CHECK_CXX(i + u);
  CHECK_CXX(i / 2);
  CHECK_CXX(i % 3);
  CHECK_CXX(i / u);
  CHECK_CXX(i < u);
  CHECK_CXX(i < (int)u);
  CHECK_CXX(l + i);
  CHECK_CXX(l * u);
  CHECK_CXX(c + c);
  CHECK_CXX(c == 'z');
  CHECK_CXX(b + b);
  CHECK_CXX(f * f);
  CHECK_CXX(f + d);
  CHECK_CXX(f == d);
  CHECK_CXX(f * 3);
  CHECK_CXX(f / 3.f);
  CHECK_CXX(h * h);
  CHECK_CXX(-h);
  CHECK_CXX(~u);
  CHECK_CXX(~c);
  CHECK_CXX(!i);
  CHECK_CXX(!!f);
  CHECK_CXX(i >> 1);
  CHECK_CXX(u << 30);
  CHECK_CXX(l >> 3);
  CHECK_CXX(1 << u);
  CHECK_CXX((i & 0xff) | 0x100);
  CHECK_CXX(i ^ u);
  CHECK_CXX(i ? f : 2.f);
  CHECK_CXX(i > 0 ? 1 : u > 2 ? 2 : 3);
  CHECK_CXX(i + u * 2 - 4 / 3);
  CHECK_CXX((i + 7) && 1 / (i + 7));
  CHECK_CXX(u == 3 || 1 / (i + 7));
  CHECK_CXX((float)i / 2);
  CHECK_CXX((int)-2.9);
  CHECK_CXX((unsigned char)300);
  CHECK_CXX((bool)0.5f);
  CHECK_CXX((signed char)200 + 0);
  CHECK_CXX((long)f);
  CHECK_CXX((double)(float)d);
  CHECK_CXX(-(unsigned)1 > 0);
  CHECK_CXX(1 == 1 == 1);
  CHECK_CXX(2 - 1 - 1);
  CHECK_CXX(100 / 10 / 5);
  CHECK_CXX(-1 >> 1);
  CHECK_CXX(5 & 3 == 3);
}

// Every pair of types and operators, at numbers where conversions matter.
TEST_F(DebuggerExpression, AllPairsOfTypes) {
  const auto check_types = [&]<class A, class B>(A a, B b) {
    const auto text = [](auto x) {
      if constexpr (std::is_same_v<decltype(x), float>) return "(float)" + std::to_string(x);
      if constexpr (std::is_same_v<decltype(x), double>) return std::to_string(x);
      if constexpr (std::is_same_v<decltype(x), unsigned>) return std::to_string(x) + "u";
      if constexpr (std::is_same_v<decltype(x), unsigned long>) return std::to_string(x) + "ul";
      if constexpr (std::is_same_v<decltype(x), long>) return "(long)" + std::to_string(x);
      if constexpr (std::is_same_v<decltype(x), short>) return "(short)" + std::to_string(x);
      return "(int)" + std::to_string(x);
    };
    const std::string l = text(a), r = text(b);
    const auto same = [&](const std::string& op, auto expected) {
      const auto actual = s.get<decltype(expected)>(l + op + r);
      EXPECT_EQ(std::memcmp(&actual, &expected, sizeof expected), 0)
          << l + op + r << " = " << actual << ", C++: " << expected;
    };
    same("+", static_cast<decltype(a + b)>(a + b));
    same("-", static_cast<decltype(a - b)>(a - b));
    same("*", static_cast<decltype(a * b)>(a * b));
    same("/", static_cast<decltype(a / b)>(a / b));
    same("<", a < b);
    same(">=", a >= b);
    same("==", a == b);
    same("!=", a != b);
    if constexpr (std::is_integral_v<A> && std::is_integral_v<B>) {
      same("%", static_cast<decltype(a % b)>(a % b));
      same("&", static_cast<decltype(a & b)>(a & b));
      same("|", static_cast<decltype(a | b)>(a | b));
      same("^", static_cast<decltype(a ^ b)>(a ^ b));
    }
  };
  const auto with_all = [&](auto a) {
    check_types(a, -3);
    check_types(a, 5u);
    check_types(a, -7l);
    check_types(a, 9ul);
    check_types(a, short(-11));
    check_types(a, 2.5f);
    check_types(a, -0.75);
  };
  for (const int i : {0, -1, 77}) with_all(i);
  for (const unsigned u : {0u, 0xfffffff0u}) with_all(u);
  for (const long l : {-1l, 0x7000'0000'0000l}) with_all(l);
  for (const unsigned long u : {1ul, 0xffff'ffff'ffff'fff0ul}) with_all(u);
  with_all(short(-30000));
  with_all(1.25f);
  with_all(-123456.5);
}

TEST_F(DebuggerExpression, PlaceOfTheLane) {
  EXPECT_EQ(s.get<unsigned>("threadIdx.x"), 7u);
  EXPECT_EQ(s.get<unsigned>("blockIdx.y * gridDim.x + blockIdx.x"), 403u);
  EXPECT_EQ(s.get<unsigned>("blockDim.x"), 32u);
  EXPECT_EQ(s.get<int>("warpSize"), 32);
  EXPECT_EQ(s.get<unsigned>("$lane"), 7u);
  EXPECT_EQ(s.get<unsigned>("$warp"), 2u);
  EXPECT_EQ(s.get<unsigned>("%tid.x + %ctaid.z"), 12u);
  EXPECT_EQ(s.get<bool>("threadIdx.x == 7 && blockIdx.x == 3"), true);
}

TEST_F(DebuggerExpression, Registers) {
  s.reg("%r5", ptx::ScalarType::b32, 0xffff'ffff);
  s.reg("%f1", ptx::ScalarType::f32, std::bit_cast<std::uint32_t>(2.5f));
  s.reg("%rd2", ptx::ScalarType::s64, static_cast<std::uint64_t>(-4));
  s.reg("%p1", ptx::ScalarType::pred, 1);
  EXPECT_EQ(s.get<unsigned>("%r5"), 0xffff'ffffu);
  EXPECT_EQ(s.get<unsigned>("$r5 - 1"), 0xffff'fffeu);
  EXPECT_EQ(s.get<float>("%f1 * 2"), 5.f);
  EXPECT_EQ(s.get<unsigned>("%r5 %7"), 0xffff'ffffu % 7);
  EXPECT_EQ(s.get<unsigned>("%r5%%r5"), 0u);
  EXPECT_EQ(s.get<long>("%rd2"), -4);
  EXPECT_EQ(s.get<bool>("%p1"), true);
  s.value("%rd2 = 12 - 20", true);
  EXPECT_EQ(s.get<long>("%rd2"), -8);
  EXPECT_EQ(s.error("%r9"), "this PTX function has no register '%r9'");
}

TEST_F(DebuggerExpression, PointersAndArrays) {
  const float data[6] = {0, 1.5f, 2.5f, 3.5f, 4.5f, 5.5f};
  s.lane.put({StateSpace::generic, TestLane::kGlobal + 64}, data);
  declare("p", s.symbols.layer(TypeKind::pointer, s.t_float), TestLane::kGlobal + 64);
  declare("i", s.t_int, 2);
  EXPECT_EQ(s.get<float>("*p"), 0.f);
  EXPECT_EQ(s.get<float>("p[i]"), 2.5f);
  EXPECT_EQ(s.get<float>("p[i + 1] + *(p + 1)"), 5.f);
  EXPECT_EQ(s.get<std::uint64_t>("&p[3]"), TestLane::kGlobal + 76);
  EXPECT_EQ(s.get<long>("&p[3] - p"), 3);
  EXPECT_EQ(s.get<bool>("&p[3] > p"), true);
  EXPECT_EQ(s.get<bool>("p == nullptr"), false);
  EXPECT_EQ(s.get<bool>("!p"), false);
  EXPECT_EQ(s.get<unsigned>("*(unsigned *)&p[1]"), std::bit_cast<unsigned>(1.5f));
  EXPECT_EQ(s.get<unsigned>("((unsigned int *)p)[1]"), std::bit_cast<unsigned>(1.5f));
  EXPECT_EQ(s.get<float>("(*(float (*)[3]) p)[2]"), 2.5f);
  EXPECT_EQ(s.get<float>("((float (*)[3]) p)[1][2]"), 5.5f);
  EXPECT_EQ(s.types.name(s.value("p[0]@4").type), "float[4]");
  EXPECT_EQ(s.value("p[0]@4").bytes.size(), 16u);
  EXPECT_EQ(s.get<unsigned long>("sizeof(p[0]@1+2)"), 12u);
  EXPECT_EQ(s.get<unsigned long>("sizeof *p"), 4u);
  EXPECT_EQ(s.types.name(s.value("&p").type), "float **");

  const TypeId tile = s.symbols.array(s.t_float, {2, 3});
  s.symbols.global_variables.push_back(
      TestSymbols::variable("tile", tile, debuginfo::AtAddress{128, StateSpace::shared}));
  s.lane.put({StateSpace::shared, 128}, data);
  EXPECT_EQ(s.get<float>("tile[1][2]"), 5.5f);
  EXPECT_EQ(s.get<float>("*tile[1]"), 3.5f);
  EXPECT_EQ(s.get<float>("**tile"), 0.f);
  EXPECT_EQ(s.types.name(s.value("tile[0]").type), "float[3]");
  EXPECT_EQ(s.get<std::uint64_t>("&tile[1][1]"), kSharedWindow + 128 + 16);
  EXPECT_EQ(s.get<float>("*&tile[1][1]"), 4.5f) << "a pointer is a generic address";
}

TEST_F(DebuggerExpression, BigArraysAreReadWhereTheyAreNeeded) {
  const TypeId big = s.symbols.array(s.t_int, {1'000'000'000});
  s.symbols.global_variables.push_back(
      TestSymbols::variable("big", big, debuginfo::AtAddress{TestLane::kGlobal, StateSpace::global}));
  s.lane.put({StateSpace::generic, TestLane::kGlobal + 400}, 77);
  s.lane.bytes_read = 0;
  EXPECT_EQ(s.get<int>("big[100]"), 77);
  EXPECT_EQ(s.lane.bytes_read, 4u);
  EXPECT_TRUE(s.value("big").bytes.empty());
  EXPECT_EQ(s.get<unsigned long>("sizeof(big)"), 4'000'000'000u);
}

struct Vec3 {
  float x, y;
  struct {
    int a;
    union {
      int b;
      float c;
    };
  } inner;
  unsigned low : 3, high : 7;
  int negative : 5;
};

class DebuggerStructures : public InScene {
 protected:
  DebuggerStructures() {
    auto& y = s.symbols;
    const TypeId choice =
        y.structure("", 4, {y.member("b", s.t_int, 0), y.member("c", s.t_float, 0)}, TypeKind::union_type);
    const TypeId inner = y.structure("Inner", 8, {y.member("a", s.t_int, 0), y.member("", choice, 4)});
    Member low = y.member("low", s.t_unsigned, 16), high = y.member("high", s.t_unsigned, 16),
           negative = y.member("negative", s.t_int, 16);
    low.bit_size = 3;
    high.bit_offset = 3;
    high.bit_size = 7;
    negative.bit_offset = 10;
    negative.bit_size = 5;
    vec3 = y.structure(
        "Vec3", sizeof(Vec3),
        {y.member("x", s.t_float, 0), y.member("y", s.t_float, 4), y.member("inner", inner, 8), low, high, negative});
  }
  TypeId vec3;
};

TEST_F(DebuggerStructures, Members) {
  Vec3 v{1.5f, -2, {11, {12}}, 5, 100, -9};
  declare("v", vec3, v.x);
  next_ += 32;
  s.lane.put({StateSpace::local, 16}, v);
  declare("p", s.symbols.layer(TypeKind::pointer, vec3), kLocalWindow + 16);
  declare("r", s.symbols.layer(TypeKind::reference, vec3), kLocalWindow + 16);
  CHECK_CXX(v.x);
  CHECK_CXX(v.x + v.y);
  CHECK_CXX(v.inner.a);
  CHECK_CXX(v.inner.c);
  CHECK_CXX(v.low + 0);
  CHECK_CXX(v.high + 0);
  CHECK_CXX(v.negative + 0);
  CHECK_CXX(v.low - 6 < 0);  // a bit field narrower than int is an int
  CHECK_CXX(sizeof(v));
  EXPECT_EQ(s.get<float>("p->y"), -2.f);
  EXPECT_EQ(s.get<float>("r.y"), -2.f);
  EXPECT_EQ(s.get<float>("(*p).x"), 1.5f);
  EXPECT_EQ(s.get<std::uint64_t>("&r"), kLocalWindow + 16);
  EXPECT_EQ(s.error("v.z"), "'Vec3' has no member 'z': it has x, y, inner, low, high, negative");
  EXPECT_EQ(s.error("&v.low"), "a bit field has no address");

  s.value("v.high = 127", true);
  v.high = 127;
  s.value("v.negative += 3", true);
  v.negative += 3;
  s.value("p->inner.a = 5.9", true);
  v.inner.a = 5;
  EXPECT_EQ(std::memcmp(&v, &s.lane.local[16], sizeof v), 0);
  EXPECT_EQ(s.error("v.x = 1"), "an assignment is not allowed here");
  EXPECT_FLOAT_EQ(s.lane.get<float>({StateSpace::local, 16}), 1.5f);
}

TEST_F(DebuggerStructures, MembersWithoutThis) {
  s.lane.put({StateSpace::local, 512}, Vec3{8.5f, 9, {1, {2}}, 1, 2, 3});
  declare("this", s.symbols.layer(TypeKind::pointer, vec3), kLocalWindow + 512);
  declare("y", s.t_int, 4);
  EXPECT_EQ(s.get<float>("x"), 8.5f);
  EXPECT_EQ(s.get<int>("y"), 4) << "a local variable hides the member";
  EXPECT_EQ(s.get<float>("this->y"), 9.f);
  EXPECT_EQ(s.get<int>("inner.b"), 2);
}

TEST_F(DebuggerExpression, ScopesAndNamespaces) {
  declare("i", s.t_int, 1);
  s.symbols.locals.back().second = 2;
  declare("i", s.t_int, 2);
  s.symbols.locals.back().second = 1;
  s.lane.put({StateSpace::generic, TestLane::kGlobal}, std::array{10, 20, 30, 40});
  auto& globals = s.symbols.global_variables;
  const auto add = [&](const char* name, std::uint64_t at, const char* file) {
    globals.push_back(
        TestSymbols::variable(name, s.t_int, debuginfo::AtAddress{TestLane::kGlobal + at, StateSpace::global}));
    globals.back().declared.file = file;
  };
  add("i", 0, "/x/a.cu");
  add("geo::count", 4, "/x/a.cu");
  add("geo::Box<int>::limit", 8, "/x/b.cu");
  add("other::twice", 8, "/x/b.cu");
  add("geo::twice", 12, "/x/a.cu");
  EXPECT_EQ(s.get<int>("i"), 2) << "the innermost";
  EXPECT_EQ(s.get<int>("::i"), 10);
  EXPECT_EQ(s.get<int>("geo::count"), 20);
  EXPECT_EQ(s.get<int>("count"), 20);
  EXPECT_EQ(s.get<int>("geo::Box<int>::limit"), 30);
  EXPECT_EQ(s.get<int>("'geo::Box<int>::limit' + 1"), 31);
  EXPECT_EQ(s.get<int>("'b.cu'::twice"), 30);
  EXPECT_EQ(s.error("twice"), "'twice' may be other::twice, or geo::twice");
  EXPECT_EQ(s.error("j"), "there is no variable 'j' here: in scope are i");
  EXPECT_EQ(s.get<bool>("i < count"), true) << "not template arguments";
}

TEST_F(DebuggerExpression, Enumerators) {
  const TypeId colour = s.symbols.enumeration("Colour", s.t_int, {{"red", 0}, {"green", 5}});
  declare("c", colour, 5);
  EXPECT_EQ(s.get<bool>("c == Colour::green"), true);
  EXPECT_EQ(s.get<bool>("c == green"), true);
  EXPECT_EQ(s.get<bool>("red == c"), false);
  EXPECT_EQ(s.get<bool>("c == geo::green"), true) << "as C++ names it, in a namespace";
  EXPECT_EQ(s.get<int>("(int)(geo::Colour)5"), 5) << "nvcc gives the type no namespace";
  EXPECT_EQ(s.get<int>("c + 1"), 6);
  s.value("c = red", true);
  EXPECT_EQ(s.get<int>("(int)c"), 0);
  EXPECT_EQ(s.error("c == blue"), "there is no variable 'blue' here: in scope are c");
}

TEST_F(DebuggerExpression, Assignments) {
  declare("i", s.t_int, 5);
  declare("f", s.t_float, 1.5f);
  s.value("i = 7", true);
  EXPECT_EQ(s.get<int>("i"), 7);
  s.value("i += f * 2", true);
  EXPECT_EQ(s.get<int>("i"), 10);
  s.value("i <<= 3, f = i", true);
  EXPECT_EQ(s.get<float>("f"), 80.f);
  s.value("i = f = 3", true);
  EXPECT_EQ(s.get<int>("i"), 3);
  s.reg("%r1", ptx::ScalarType::b32, 1);
  s.value("%r1 = -1", true);
  EXPECT_EQ(s.lane.registers[0].low & 0xffff'ffff, 0xffff'ffffu);
  EXPECT_EQ(s.error("5 = i", true), "only what is in memory or in a register can be assigned to");
  EXPECT_EQ(s.error("threadIdx.x = 1", true), "only what is in memory or in a register can be assigned to");
}

TEST_F(DebuggerExpression, ErrorsSayWhatAndWhere) {
  declare("i", s.t_int, 0);
  declare("p", s.symbols.layer(TypeKind::pointer, s.t_int), std::uint64_t{8});
  s.symbols.local("gone", s.t_int, debuginfo::NoValue{"optimised away: nvcc -O3 keeps no place for it"});
  EXPECT_EQ(s.error("1 / i"), "division by zero");
  EXPECT_EQ(s.error("1 % i"), "division by zero");
  EXPECT_EQ(s.error("*p"), "nothing is allocated at this address");
  EXPECT_EQ(s.error("gone + 1"), "'gone' has no value here: optimised away: nvcc -O3 keeps no place for it");
  EXPECT_EQ(s.error("i +"), "the expression ends too early");
  EXPECT_EQ(s.error("(i"), "')' is expected here");
  EXPECT_EQ(s.error("i i"), "an operator or the end is expected here");
  EXPECT_EQ(s.error("i << 32"), "a shift by 32 of a number of 32 bits");
  EXPECT_EQ(s.error("f(1)"), "functions cannot be called");
  EXPECT_EQ(s.error("1.5 & 1"), "this operator needs integers");
  EXPECT_EQ(s.error("&i + p"), "this operator is not for pointers");
  EXPECT_EQ(s.error("i.x"), "'int' has no members");
  EXPECT_EQ(s.error("*i"), "'int' is neither a pointer nor an array");
  EXPECT_EQ(s.error("1 ? 2"), "':' is expected here");
  EXPECT_EQ(s.error("99999999999999999999"), "this number has more than 64 bits");
  EXPECT_EQ(s.error("\"text\""), "texts in double quotes are not supported");
  EXPECT_EQ(s.error(std::string(5000, '(')), "the expression is nested too deeply");
  EXPECT_EQ(s.error(std::string(5000, '-') + "1"), "++ and -- are not supported: write += 1");
  EXPECT_EQ(s.try_value("i + 10 / (i * 2)").error().detail, "i + 10 / (i * 2)\n       ^");
  s.symbols.locals.clear();
  s.symbols.why = "compiled with -lineinfo, which leaves no variables: compile with -G";
  EXPECT_EQ(s.error("i"),
            "there is no variable 'i' here: compiled with -lineinfo, which leaves no variables: compile with -G");
}

// One parsed expression for all lanes; the names are looked up once for a place of code.
TEST_F(DebuggerExpression, EvaluatedForManyLanes) {
  const ptx::RegId reg = s.reg("%r1", ptx::ScalarType::b32, 0);
  s.symbols.local("i", s.t_int, debuginfo::InRegister{reg});
  Result<debugger::Expression> condition = debugger::parse_expression("i == 3 && threadIdx.x % 2 == 1", s.types);
  ASSERT_TRUE(condition.ok());
  std::uint32_t mask = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    s.lane.lane_number = lane;
    s.lane.registers[reg].low = lane % 5;
    const Result<debugger::ConditionResult> truth = debugger::evaluate_condition(s.context, *condition);
    ASSERT_TRUE(truth.ok());
    mask |= std::uint32_t{truth->holds} << lane;
  }
  std::uint32_t expected = 0;
  for (unsigned lane = 0; lane < 32; ++lane) expected |= std::uint32_t{lane % 5 == 3 && lane % 2 == 1} << lane;
  EXPECT_EQ(mask, expected);
}

#pragma GCC diagnostic pop

}  // namespace
