// The toolchain: options, dependency rules, compiler messages, and rewritten sources.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "toolchain/architecture.h"
#include "toolchain/dependencies.h"
#include "toolchain/device_launch.h"
#include "toolchain/included_libraries.h"
#include "toolchain/inlined_places.h"
#include "toolchain/messages.h"
#include "toolchain/options.h"
#include "toolchain/precompiled_headers.h"
#include "toolchain/spellings.h"
#include "toolchain/static_variables.h"

namespace warpgrind::toolchain {
namespace {

using Texts = std::vector<std::string>;

TEST(ToolchainOptions, NamesAreUnique) {
  std::set<std::string_view> long_names, short_names;
  for (const Option& o : options()) {
    EXPECT_TRUE(long_names.insert(o.long_name).second) << o.long_name;
    EXPECT_TRUE(short_names.insert(o.short_name).second) << o.short_name;
    // An option with a joined value must have a one-letter name, so that the value begins after it.
    if (o.joined) {
      EXPECT_EQ(o.short_name.size(), 1u) << o.short_name;
    }
    EXPECT_EQ(o.text.empty(), o.meaning == Meaning::setting || o.meaning == Meaning::silent) << o.long_name;
  }
}

TEST(ToolchainHeaders, OnlyTheFirstLinesChooseWhatIsPrecompiled) {
  const auto thrust = HeaderBase::thrust, cub = HeaderBase::cub, wrapper = HeaderBase::wrapper;
  EXPECT_EQ(base_for("#include <thrust/device_vector.h>\nint main() {}"), thrust);
  EXPECT_EQ(base_for("// text\n/* more\n text */ # include <vector> // why\n#include<thrust/sort.h>\n\n"
                     "#include <thrust/device_vector.h>"),
            thrust);
  EXPECT_EQ(base_for("#include <cub/cub.cuh>\n#include <cstdio>\n"), cub);
  EXPECT_EQ(base_for("#include <thrust/device_vector.h>\n#include \"mine.h\"\n#include <cub/cub.cuh>\n"), thrust);
  for (const char* both : {"#include <cub/cub.cuh>\n#include <thrust/device_vector.h>\n",
                           "#include <thrust/device_vector.h>\n#include <vector>\n#include <cub/cub.cuh>\n"})
    EXPECT_EQ(base_for(both), HeaderBase::thrust_and_cub);
  // What stands before the header could change its meaning.
  EXPECT_EQ(base_for("#define X 1\n#include <cub/cub.cuh>\n"), wrapper);
  EXPECT_EQ(base_for("#include \"mine.h\"\n#include <cub/cub.cuh>\n"), wrapper);
  EXPECT_EQ(base_for("#include <mine.h>\n#include <cub/cub.cuh>\n"), wrapper);
  EXPECT_EQ(base_for("#if 0\n#include <cub/cub.cuh>\n#endif\n"), wrapper);
  EXPECT_EQ(base_for("/* #include <cub/cub.cuh>\n"), wrapper);
  EXPECT_EQ(base_for("// #include <cub/cub.cuh>"), wrapper);
  EXPECT_EQ(base_for("#include <cub/cub.cuh\n>"), wrapper);
  EXPECT_EQ(base_for("#include_next <cub/cub.cuh>"), wrapper);
  EXPECT_EQ(base_for("#include HEADER"), wrapper);
  EXPECT_EQ(base_for("#"), wrapper);
  EXPECT_EQ(base_for(""), wrapper);
}

TEST(ToolchainHeaders, DependenciesNameTheSourceFirstAndNoFileOfTheCache) {
  Texts files = {"/c/0123456789abcdef0123456789abcdef.h", "/usr/include/stdio.h", "app.cu", "/c/0123.h", "mine.h"};
  PrecompiledHeaders::tidy(files, "app.cu");
  EXPECT_EQ(files, (Texts{"app.cu", "/usr/include/stdio.h", "/c/0123.h", "mine.h"}));
}

TEST(ToolchainOptions, ListsAreCutAtCommas) {
  EXPECT_EQ(split_list("a,b"), (Texts{"a", "b"}));
  EXPECT_EQ(split_list("a\\,b,c"), (Texts{"a,b", "c"}));
  EXPECT_EQ(split_list("S=\"a,b\",c"), (Texts{"S=\"a,b\"", "c"}));
  EXPECT_EQ(split_list("arch=compute_80,code=[sm_80,compute_80]"),
            (Texts{"arch=compute_80", "code=[sm_80,compute_80]"}));
  EXPECT_EQ(split_list(""), (Texts{""}));
}

TEST(ToolchainOptions, WordsAreThoseOfAShell) {
  EXPECT_EQ(split_words(" -a  'b c'\n\"d e\"f g\\ h \\\"i ''"), (Texts{"-a", "b c", "d ef", "g h", "\"i", ""}));
  EXPECT_EQ(split_words("'a\\b' \"a\\\"b\""), (Texts{"a\\b", "a\"b"}));
  EXPECT_EQ(split_words(""), Texts{});
}

TEST(ToolchainOptions, ValuesApartJoinedAndBehindEquals) {
  for (const Texts& words :
       {Texts{"-D", "X"}, Texts{"-DX"}, Texts{"-D=X"}, Texts{"--define-macro=X"}, Texts{"--define-macro", "X"}}) {
    const auto line = parse_command_line(words);
    ASSERT_TRUE(line) << words[0];
    EXPECT_EQ(line->all(OptionId::define_macro), Texts{"X"}) << words[0];
    EXPECT_TRUE(line->inputs.empty());
  }
}

TEST(ToolchainDependencies, RulesAreReadAsWritten) {
  const auto path = std::filesystem::path(testing::TempDir()) / "rules.d";
  const Texts files = {"a b.cu", "c#d.h", "e$f.h", "g.h"};
  std::ofstream(path) << dependency_rule("x.o y.o", files, true);
  const auto read = read_dependencies(path.string());
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, files);
  EXPECT_FALSE(read_dependencies("/nonexistent/rules.d"));
}

TEST(ToolchainDependencies, MergedInOrderWithoutRepetition) {
  EXPECT_EQ(merged({"a", "b"}, {"b", "c", "a", "d"}), (Texts{"a", "b", "c", "d"}));
}

TEST(ToolchainMessages, WhatBothPassesSayComesOnce) {
  const std::string both =
      "In file included from a.cu:1:\na.h:2:1: warning: odd\n    2 | x\n      | ^\na.h:3:1: note: because\n";
  const std::string host =
      both + "a.cu:5:1: error: host only\n1 warning and 1 error generated when compiling for host.\n";
  const std::string device = both + "a.cu:7:1: error: device only\n1 error generated when compiling for sm_90.\n";
  EXPECT_EQ(merged_messages(host, device), both + "a.cu:5:1: error: host only\na.cu:7:1: error: device only\n");
}

TEST(ToolchainMessages, ColoursDoNotMakeADifference) {
  EXPECT_EQ(merged_messages("\x1b[1ma.cu:1:1: \x1b[0merror: x\n", "a.cu:1:1: error: x\n"),
            "\x1b[1ma.cu:1:1: \x1b[0merror: x\n");
}

TEST(ToolchainMessages, HintsNameWhatIsMissing) {
  EXPECT_EQ(hints_for("a.cu:1:10: fatal error: 'cudnn.h' file not found\n"),
            "  cudnn.h is a library of NVIDIA's (cuDNN); warpgrind has no version of it\n");
  EXPECT_EQ(hints_for("/usr/bin/ld: cannot find -lnppc: No such file or directory\n"),
            "  the library nppc is part of NVIDIA's toolkit (NPP); warpgrind has no version of it\n");
  EXPECT_NE(hints_for("x: fatal error: 'thrust/sort.h' file not found\n").find("libthrust-dev"), std::string::npos);
  EXPECT_EQ(hints_for("a.cu:1:10: fatal error: 'mine.h' file not found\n"), "");
  EXPECT_EQ(hints_for(""), "");
}

TEST(ToolchainMessages, FunctionsThatAreNowhereNameTheirOption) {
  const std::string bfd = "/usr/bin/ld: a.o: in function `main':\na.cu:(.text+0x3c): undefined reference to ";
  EXPECT_EQ(hints_for(bfd + "`cublasCreate_v2'\n" + bfd + "`cublasDestroy_v2'\n"),
            "  cublasCreate_v2 is a function of cuBLAS: compile with -lcublas\n");
  EXPECT_EQ(hints_for("ld.lld: error: undefined symbol: cublasLtCreate\n"),
            "  cublasLtCreate is a function of cuBLASLt: compile with -lcublasLt\n");
  EXPECT_EQ(missing_flags(bfd + "`cuInit'\n" + bfd + "`cufftExecC2C'\n" + bfd + "`cuInit'\n"),
            (std::vector<std::string>{"-lcuda", "-lcufft"}));
  EXPECT_EQ(missing_flags(bfd + "`MPI::Comm::Comm()'\n"), std::vector<std::string>{"-DOMPI_SKIP_MPICXX"});
  EXPECT_EQ(hints_for(bfd + "`mine'\n" + bfd + "`current'\n"), "");
  EXPECT_TRUE(links_known_library("-lcublas"));
  EXPECT_FALSE(links_known_library("-l"));
  EXPECT_FALSE(links_known_library("-DOMPI_SKIP_MPICXX"));
}

TEST(ToolchainLibraries, AreThoseOfIncludedHeaders) {
  const std::string folder = testing::TempDir(), source = folder + "includes.cu", mpicxx = folder + "mpicxx";
  const auto options_of = [&](const std::string& text, const Texts& given = {}) {
    std::ofstream(source) << text;
    return options_for_includes({source}, given, folder);
  };
  EXPECT_EQ(options_of("#include <cublas_v2.h>\n # include \"cufft.h\"\n"), (Texts{"-lcublas", "-lcufft"}));
  EXPECT_EQ(options_of("#include <cusolverSp.h>\n"), (Texts{"-lcusolver", "-lcusparse"}));
  EXPECT_EQ(options_of("#include <cublas_v2.h>\n#include <omp.h>", {"-lcublas"}), Texts{"-Xcompiler=-fopenmp"});
  EXPECT_EQ(options_of("#include <curand_kernel.h>\n// cublas_v2.h\n#include <cublas_v2.h\n"), Texts{});
  // The driver API: only if it is called.
  EXPECT_EQ(options_of("#include <cuda.h>\nint main() { cudaFree(0); my_cuInit(0); }"), Texts{});
  EXPECT_EQ(options_of("#include <cuda.h>\nint main() { cuInit (0); }"), Texts{"-lcuda"});
  EXPECT_EQ(options_of("int main() { cuInit(0); }"), Texts{});
  EXPECT_EQ(options_for_includes({folder + "none.cu"}, {}, folder), Texts{});
  // MPI: what its compiler says.
  EXPECT_EQ(options_of("#include <mpi.h>"), Texts{});
  std::ofstream(mpicxx) << "#!/bin/sh\necho g++ -I/mpi/include -pthread -L/mpi/lib -lmpi_cxx -lmpi\n";
  std::filesystem::permissions(mpicxx, std::filesystem::perms::owner_all);
  EXPECT_EQ(options_of("#include <mpi.h>"), (Texts{"-DOMPI_SKIP_MPICXX", "-I/mpi/include", "-L/mpi/lib", "-lmpi"}));
  EXPECT_EQ(options_of("#include <mpi.h>", {"-lmpi"}), Texts{});
  std::filesystem::remove(mpicxx);
}

// What the launch pass leaves for clang 19, which cannot write inlined_at.
TEST(ToolchainInlinedPlaces, NumbersBecomeDirectivesOfTheWholeChain) {
  const std::string ptx =
      "// inlined file 1 /src/a.cu\n// inlined place 1 1 9 13 0 _Z1kPf\n// inlined file 2 /lib/h.h\n"
      "// inlined place 2 2 40 3 1 outer\n// inlined place 3 2 50 5 2 inner\n"
      ".entry k()\n{\n"
      "\t.loc\t1 8 0 // /src/a.cu:8:0\nmov.u32 %r1, 1;\n"
      "\t.loc\t1 1073741827 0 // /src/a.cu:1073741827:0\nst.u32 [%rd1], %r1;\n"
      "\t.loc\t1 1073741826 0\nst.u32 [%rd1], %r1;\n"
      "}\n\t.file\t1 \"/src/a.cu\"\n";
  EXPECT_EQ(with_inlined_places(ptx),
            ".entry k()\n{\n"
            "\t.loc\t1 8 0 // /src/a.cu:8:0\nmov.u32 %r1, 1;\n"
            "\t.loc\t1 9 13\n"
            "\t.loc\t2 40 3, function_name $L__inlined_name0, inlined_at 1 9 13\n"
            "\t.loc\t2 50 5, function_name $L__inlined_name1, inlined_at 2 40 3\nst.u32 [%rd1], %r1;\n"
            "\t.loc\t2 40 3, function_name $L__inlined_name0, inlined_at 1 9 13\nst.u32 [%rd1], %r1;\n"
            "}\n\t.file\t1 \"/src/a.cu\"\n\t.file\t2 \"/lib/h.h\"\n"
            "\t.section\t.debug_str\n\t{\n$L__inlined_name0:\n.b8 111,117,116,101,114,0\n"
            "$L__inlined_name1:\n.b8 105,110,110,101,114,0\n\t}\n");
}

// inlined_at names the latest .loc of a place, so the chain is written again where another one has used the place.
TEST(ToolchainInlinedPlaces, PlacesThatTwoChainsShareAreWrittenAgain) {
  const std::string notes =
      "// inlined file 1 a.cu\n// inlined place 1 1 9 1 0 k\n// inlined place 2 1 4 1 1 f\n"
      "// inlined place 3 1 9 30 0 k\n// inlined place 4 1 4 1 3 f\n// inlined place 5 1 2 1 2 g\n"
      "// inlined place 6 1 2 1 4 g\n";
  const std::string ptx =
      notes + "{\n.loc 1 1073741829 0\n.loc 1 1073741830 0\n.loc 1 1073741829 0\n}\n.file 1 \"a.cu\"\n";
  const std::string out = with_inlined_places(ptx);
  const std::string f = "function_name $L__inlined_name0", g = "function_name $L__inlined_name1";
  const std::string first = "\t.loc\t1 4 1, " + f + ", inlined_at 1 9 1\n\t.loc\t1 2 1, " + g + ", inlined_at 1 4 1\n";
  EXPECT_EQ(out.substr(0, out.find("}\n")), "{\n\t.loc\t1 9 1\n" + first + "\t.loc\t1 9 30\n\t.loc\t1 4 1, " + f +
                                                ", inlined_at 1 9 30\n\t.loc\t1 2 1, " + g + ", inlined_at 1 4 1\n" +
                                                first);
}

TEST(ToolchainInlinedPlaces, OtherTextStaysAsItIs) {
  const std::string ptx = ".entry k()\n{\n\t.loc\t1 1073741900 0\n}\n";  // no note of this number
  EXPECT_EQ(with_inlined_places(ptx), ptx);
  EXPECT_EQ(with_inlined_places(""), "");
  EXPECT_EQ(with_inlined_places("// inlined place 3 1 1 1 3 loop\n" + ptx), "// inlined place 3 1 1 1 3 loop\n" + ptx);
}

TEST(ToolchainSpellings, RefusedOnesAreFoundWithTheirMacros) {
  const auto found = refused_spellings(
      "a.cu:4:3: error: an attribute list cannot appear here\n    4 |   TILE(x);\n"
      "./b.h:1:29: note: expanded from macro 'TILE'\na.cu:7:9: \x1b[0;1;31merror: \x1b[0man attribute list cannot "
      "appear here\n"
      "a.cu:8:9: error: other\nb.h:2:2: note: expanded from macro 'OTHER'\n");
  EXPECT_EQ(found, (std::map<std::string, std::vector<Place>>{{"a.cu", {{4, 3}, {7, 9}}}, {"./b.h", {{1, 29}}}}));
  EXPECT_EQ(refused_spellings("a.cu:4:33: error: invalid % escape in inline assembly string\n"),
            (std::map<std::string, std::vector<Place>>{{"a.cu", {{4, 33, Place::Of::percent}}}}));
}

TEST(ToolchainSpellings, PercentsOfALineAreDoubledFromThere) {
  const auto percent = [](const std::string& text, std::size_t column) {
    return respelt(text, {{1, column, Place::Of::percent}});
  };
  EXPECT_EQ(percent("\"mov %0, %laneid; %%tid %c1 %[x] %clock\"\n\"%smid\"", 12),
            "\"mov %0, %%laneid; %%tid %c1 %[x] %%clock\"\n\"%smid\"");
  EXPECT_EQ(percent("\"mov %laneid;\"", 1), "\"mov %laneid;\"");  // no position there
}

TEST(ToolchainSpellings, OnlyTheNamedPlacesChange) {
  EXPECT_EQ(respelt("x alignas(4) y alignas(T) z\n__device__ [[nodiscard,\n a]] int f();\n",
                    {{1, 3}, {1, 16}, {1, 16}, {2, 12}, {1, 1}, {9, 1}, {3, 99}}),
            "x _Alignas(4) y _Alignas(T) z\n__device__ __attribute__((warn_unused_result))\n int f();\n");
  EXPECT_EQ(respelt("[[unlikely]] [[", {{1, 1}, {1, 14}}), " [[");
}

TEST(ToolchainSpellings, SharedVariablesWithConstructorsBecomeMembersOfUnions) {
  const auto shared = [](const std::string& text, const std::string& name) {
    return respelt(text, {{1, text.find(name) + 1, Place::Of::shared_variable}});
  };
  EXPECT_EQ(
      shared("  alignas(16) static __shared__ Barrier<int, 2> bar[N][2]; f(bar);\n", "bar["),
      "  union wg_shared_bar { alignas(16)                   Barrier<int, 2> bar[N][2]; __device__ wg_shared_bar() {} "
      "__device__ ~wg_shared_bar() {} }; __shared__ wg_shared_bar wg_memory_bar; auto& bar = wg_memory_bar.bar; "
      "f(bar);\n");
  for (const std::string text : {"__shared__ B v, w;", "__shared__ B v = 3;", "__shared__ B x; B v;", "SHARED B v;"})
    EXPECT_EQ(shared(text, "v"), text);
}

TEST(ToolchainStaticVariables, PlainNamesBecomeTheSuffixedOnes) {
  EXPECT_EQ(with_static_variables_joined(".extern .global .u32 _ZL1n;\n.extern .global .u32 other;\n"
                                         ".visible .global .u32 _ZL1n__static__0ab;\nld.global.u32 %r1, [_ZL1n+4];\n"
                                         "mov.u64 %rd1, _ZL1nn;"),
            ".extern .global .u32 other;\n.visible .global .u32 _ZL1n__static__0ab;\n"
            "ld.global.u32 %r1, [_ZL1n__static__0ab+4];\nmov.u64 %rd1, _ZL1nn;");
}

TEST(ToolchainDeviceLaunch, EachFormIsFoundAndNothingElse) {
  const auto rewritten = [](const std::string& text) { return with_calls_for_launches(text); };
  const std::string begin = "(::__wg_configure_launch(", end = ", ::__wg_launch())";
  EXPECT_EQ(rewritten("if (x) k<<<1, n>>>(a, f(b)); y();"), "if (x) " + begin + "1, n), k(a, f(b))" + end + "; y();");
  EXPECT_EQ(rewritten("else ::a::k<T, (2 > 1)><<<g(), b, 0, s>>>();"),
            "else " + begin + "g(), b, 0, s), ::a::k<T, (2 > 1)>()" + end + ";");
  EXPECT_EQ(rewritten("return ::k<<<1, sizeof(A<B<C>>)>>>(p);"),
            "return " + begin + "1, sizeof(A<B<C>>)), ::k(p)" + end + ";");
  EXPECT_EQ(rewritten("(*p->table[i])<<<1, x >> 1>>>(1);"), begin + "1, x >> 1), (*p->table[i])(1)" + end + ";");
  EXPECT_EQ(rewritten("o.k<<<1, N<4>>>>(1);"), begin + "1, N<4>), o.k(1)" + end + ";");
  EXPECT_EQ(rewritten("T::template k<1><<<1,\n1>>>\n(1);"), begin + "1,\n1), T::template k<1>\n(1)" + end + ";");
  EXPECT_EQ(rewritten("a<<<1, 1>>>(p); b<<<1, 1>>>(q);"),
            begin + "1, 1), a(p)" + end + "; " + begin + "1, 1), b(q)" + end + ";");
  for (const char* same :
       {"// k<<<1, 1>>>(a);\n", "/* k<<<1, 1>>>(a) */", "\"k<<<1, 1>>>(a)\"", "R\"x(k<<<1, 1>>>(a))x\"",
        "cout << a << b;", "k<<<1, 1>>>;", "<<<1, 1>>>(a)", "k<<<1, 1", "x = 1'000; '\"';", ""})
    EXPECT_EQ(rewritten(same), same);
}

TEST(ToolchainDeviceLaunch, TheHostsHalfKeepsItsOwnLaunchesAndAllLines) {
  EXPECT_EQ(without_launches_at("k<<<1, 1>>>(a); k<<<1,\n2>>>(b);\nf((void*)k<int>);", {{"x", 1, 17}, {"x", 3, 10}}),
            "k<<<1, 1>>>(a); (::__wg_leave_launch(1,\n2), ::__wg_leave_launch(b));\nf((void*)nullptr);");
  EXPECT_EQ(without_launches_at("a\n  <<<1, 1>>>(b);", {{"x", 2, 3}}),
            "\n(::__wg_leave_launch(1, 1), ::__wg_leave_launch(b));");
  EXPECT_EQ(without_launches_at("k<<<1, 1>>>(a);", {{"x", 7, 1}}), "k<<<1, 1>>>(a);");
}

TEST(ToolchainDeviceLaunch, ClangSaysWhereTheyAre) {
  const auto places = device_launches(
      "\x1b[1ma b.cu:3:7: \x1b[0m\x1b[0;1;31merror: \x1b[0mreference to __global__ function 'k' in __device__ "
      "function\n"
      "x.cu:4:8: error: reference to __host__ function '__cudaPushCallConfiguration' in __global__ function\n"
      "x.cu:5:9: error: no matching function for call to 't'\n"
      "x.cu:1:1: note: candidate function not viable: call to __global__ function from __global__ function\n"
      "x.cu:6:9: error: no matching function for call to 'u'\n"
      "x.cu:1:1: note: candidate function not viable: requires 1 argument\n"
      "x.cu:7:9: error: reference to __host__ function 'rand' in __global__ function\n");
  EXPECT_EQ(places, (std::set<SourcePlace>{{"a b.cu", 3, 7}, {"x.cu", 4, 8}, {"x.cu", 5, 9}}));
}

}  // namespace
}  // namespace warpgrind::toolchain
