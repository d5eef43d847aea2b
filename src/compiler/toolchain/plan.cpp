// Command lines of clang, the linker and ar for a request.
#include "toolchain/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace warpgrind::toolchain {

namespace {

namespace fs = std::filesystem;

// The newest PTX version that clang 19 writes.
constexpr const char* kPtxFeature = "--cuda-feature=+ptx85";
// Selects the current launch interface (__cudaPushCallConfiguration) and __cudaRegisterFatBinaryEnd.
constexpr const char* kSdkVersion = "-target-sdk-version=12.0";

// Makes host code that a shared library can contain. Behind nvcc, gcc's code mostly can be used there without this
// option. clang's cannot: it takes the address of a kernel's stub directly. Placed before the user's options, which may
// override it.
constexpr const char* kIndependent = "-fPIC";

// Turns off warnings about options and pragmas that only gcc and nvcc know.
Words tolerance() {
  return {"-Wno-unknown-cuda-version",
          "-Wno-unknown-warning-option",
          "-Wno-ignored-optimization-argument",
          "-Wno-unknown-pragmas",
          "-Wno-pass-failed",
          "-Qunused-arguments"};
}

// The words without include folders of other toolkits.
Words with_our_headers(const Words& words, const Toolkit& toolkit) {
  Words out;
  for (std::size_t i = 0; i < words.size(); i++) {
    const bool apart = words[i] == "-isystem" || words[i] == "-I";
    const std::string folder = apart && i + 1 < words.size() ? words[i + 1]
                               : words[i].starts_with("-I")  ? words[i].substr(2)
                                                             : "";
    const bool foreign = !folder.empty() && is_foreign_toolkit(toolkit, folder);
    if (!foreign) out.push_back(words[i]);
    if (apart && i + 1 < words.size() && !foreign) out.push_back(words[i + 1]);
    if (apart) i++;
  }
  return out;
}

// Options of the host compiler that have no meaning for a GPU.
bool for_host_only(const std::string& word) {
  for (const char* start :
       {"-fsanitize", "-M", "-Wa,", "-Wl,", "-ftime-trace", "-pg", "-fprofile", "-fcoverage", "-flto", "-g", "-O",
        "-fstack-protector", "-fpie", "-fPIE", "-fpic", "-fPIC", "-static", "-rdynamic"})
    if (word.starts_with(start)) return true;
  return false;
}

// clang fills 100 to 300 MB. Large pages save seven eighths of its page faults and 7 % of its CPU time.
constexpr const char* kLargePages = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864";

// Whether a precompiled header can be made with these options. It would be the output of those that write files.
bool can_be_precompiled(const Words& flags) {
  return std::none_of(flags.begin(), flags.end(), [](const std::string& word) {
    for (const char* start : {"-M", "-save-temps", "-ftime-trace", "-E", "-fsyntax-only", "-o", "-include-pch"})
      if (word.starts_with(start)) return true;
    return false;
  });
}

class Planner {
 public:
  Planner(const Request& request, const Toolkit& toolkit, const Surroundings& surroundings, const std::string& folder)
      : request_(request), toolkit_(toolkit), surroundings_(surroundings), folder_(folder) {
    const std::string name = fs::path(request.host_compiler).filename().string();
    mpi_ = name.find("mpi") != std::string::npos;
    // clang compiles CUDA host code; plain C++ may use the compiler that -ccbin names.
    std::error_code problem;
    const bool is_folder = fs::is_directory(request.host_compiler, problem);
    cuda_compiler_ = mpi_ ? request.host_compiler : toolkit.clang;
    plain_compiler_ = request.host_compiler.empty() || is_folder ? toolkit.clang : request.host_compiler;
    both_ = with_our_headers(request.both, toolkit);
    host_ = with_our_headers(request.host, toolkit);
  }

  Plan plan() {
    Plan out;
    out.placeholder = folder_ + "/placeholder.fatbin";
    out.variables = variables();
    if (surroundings_.glibc_tunables.empty()) out.large_pages = {kLargePages};
    std::set<std::string> stems;
    for (const Input& input : request_.inputs) {
      if (input.language == Language::linkable) {
        out.linked.push_back(input.path);
        continue;
      }
      // Sources in different folders may have the same name.
      std::string stem = fs::path(input.path).stem().string();
      for (int k = 2; !stems.insert(stem).second; k++)
        stem = fmt::format("{}-{}", fs::path(input.path).stem().string(), k);
      Unit unit = plan_unit(input, stem, out.placeholder);
      if (unit.device.empty() && unit.host.empty() && input.language != Language::ptx) continue;
      if (request_.phase >= Phase::device_link) out.linked.push_back(unit.output);
      out.units.push_back(std::move(unit));
    }
    if (request_.phase >= Phase::device_link) plan_last_step(out);
    return out;
  }

 private:
  Words variables() const {
    Words out;
    const auto filtered = [&](const char* name, const std::string& value) {
      if (!value.empty()) out.push_back(fmt::format("{}={}", name, without_foreign_toolkits(toolkit_, value)));
    };
    filtered("CPATH", surroundings_.cpath);
    filtered("C_INCLUDE_PATH", surroundings_.c_include_path);
    filtered("CPLUS_INCLUDE_PATH", surroundings_.cplus_include_path);
    if (mpi_)  // the compiler wrappers of Open MPI and MPICH
      for (const char* name : {"OMPI_CXX", "MPICH_CXX"}) out.push_back(fmt::format("{}={}", name, toolkit_.clang));
    return out;
  }

  Words language_flags(Language language) const {
    Words out = {"-x", language == Language::cuda ? "cuda" : language == Language::cpp ? "c++" : "c"};
    if (language != Language::c && !request_.standard.empty()) out.push_back("-std=" + request_.standard);
    return out;
  }

  Words macros() const {
    Words out = {fmt::format("-D__CUDA_ARCH_LIST__={}0", request_.architecture.number)};
    if (request_.device_debug) out.push_back("-D__CUDACC_DEBUG__");
    if (request_.per_thread_stream) out.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    return out;
  }

  // After the system's own, which are used where there are some.
  Words library_headers() const {
    if (toolkit_.library_headers.empty()) return {};
    return {"-idirafter", toolkit_.library_headers};
  }

  Words cuda_flags(const Input& input, const std::string& unique) const {
    Words out = {cuda_compiler_};
    append(out, language_flags(Language::cuda));
    append(out, {"-nocudainc", "-nocudalib", "--cuda-gpu-arch=" + request_.architecture.sm(), "-Xclang", kSdkVersion});
    // As nvcc does: allows f(...) if only overload resolution sees it, in traits (libcu++ has them in device code).
    append(out, {"-Xclang", "-fcuda-allow-variadic-functions"});
    append(out, tolerance());
    append(out, {"-isystem", toolkit_.headers, "-include", request_.wrapper});
    append(out, library_headers());
    append(out, macros());
    // CMake's test of the compiler's identity. Other sources do not get __NVCC__: programs test it for nvcc's bugs, and
    // __CUDACC__ for CUDA.
    if (fs::path(input.path).filename() == "CMakeCUDACompilerId.cu") out.push_back("-D__NVCC__");
    if (surroundings_.colours) out.push_back("-fcolor-diagnostics");
    if (request_.per_thread_stream) out.push_back("-fgpu-default-stream=per-thread");
    if (request_.relocatable) append(out, {"-fgpu-rdc", "-cuid=" + unique});
    append(out, both_);
    return out;
  }

  Words device_flags(const Input& input, const std::string& unique) const {
    Words out = cuda_flags(input, unique);
    for (const std::string& word : host_)
      if (!for_host_only(word)) out.push_back(word);
    append(out, {"--cuda-device-only", kPtxFeature});
    // Programs set a variable in one lane and pass it to shfl() in all. clang assumes that no unset variable is an
    // argument, so it removed the other lanes' branch: every lane then acted as the one that sets it.
    append(out, {"-Xclang", "-no-enable-noundef-analysis"});
    if (request_.device_debug) {
      append(out, {"-O0", "-g"});
    } else {
      out.push_back("-O3");  // as with nvcc: -O concerns host code
      if (request_.line_info) out.push_back("-gline-tables-only");
    }
    if (request_.flush_to_zero) out.push_back("-fgpu-flush-denormals-to-zero");
    if (request_.fast_functions) out.push_back("-fgpu-approx-transcendentals");
    // 0: div.approx, 1: div.full, 2: div.rn
    if (!request_.exact_division)
      append(out, {"-mllvm", fmt::format("-nvptx-prec-divf32={}", request_.fast_functions ? 0 : 1)});
    if (!request_.exact_sqrt) append(out, {"-mllvm", "-nvptx-prec-sqrtf32=0", "-D__nv_sqrtf=__nv_fast_sqrtf"});
    if (!request_.fused) append(out, {"-ffp-contract=off", "-mllvm", "-nvptx-fma-level=0"});
    out.push_back("-fpass-plugin=" + toolkit_.launch_pass);
    append(out, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", toolkit_.device_library});
    return out;
  }

  Words host_flags(const Input& input, const std::string& unique) const {
    Words out = cuda_flags(input, unique);
    append(out, {"--cuda-host-only", kIndependent});
    // clang 19 passes its own option to the device pass only. The names of static symbols depend on it.
    if (request_.relocatable) append(out, {"-Xclang", "-cuid=" + unique});
    if (!request_.host_optimisation.empty()) out.push_back(request_.host_optimisation);
    append(out, host_);
    return out;
  }

  Words plain_flags(Language language) const {
    Words out = {plain_compiler_};
    append(out, language_flags(language));
    out.push_back(kIndependent);
    if (plain_compiler_ == toolkit_.clang) append(out, tolerance());
    append(out, {"-isystem", toolkit_.headers});
    append(out, library_headers());
    append(out, macros());
    if (!request_.host_optimisation.empty()) out.push_back(request_.host_optimisation);
    append(out, both_);
    append(out, host_);
    return out;
  }

  std::string between(const std::string& name) const { return folder_ + "/" + name; }

  static const char* suffix(Phase phase) {
    switch (phase) {
      case Phase::ptx:
        return ".ptx";
      case Phase::fatbin:
        return ".fatbin";
      case Phase::cubin:
        return ".cubin";
      default:
        return ".o";
    }
  }

  std::string output_of(const Input& input, const std::string& stem) const {
    if (request_.phase >= Phase::device_link) return between(stem + ".o");
    if (!request_.output.empty()) return request_.output;
    if (request_.phase == Phase::preprocess || request_.phase == Phase::dependencies) return "";
    const std::string name = fs::path(input.path).stem().string() + suffix(request_.phase);
    return request_.output_directory.empty() ? name : request_.output_directory + "/" + name;
  }

  // "a.o" for a.cu, or the name that -o or -MT gives.
  void plan_dependencies(Unit& unit) const {
    const std::string object = fs::path(unit.input.path).stem().string() + ".o";
    const bool own =
        request_.phase < Phase::device_link && request_.phase != Phase::dependencies && !unit.output.empty();
    unit.target = !request_.dependency_target.empty() ? request_.dependency_target : own ? unit.output : object;
    if (request_.dependencies == DependencyRules::none) return;
    unit.dependency_file = request_.dependency_output;
    if (!unit.dependency_file.empty() || request_.phase == Phase::dependencies) return;
    const std::string& named = request_.output.empty() ? object : request_.output;
    unit.dependency_file = fs::path(named).replace_extension(".d").string();
  }

  void add_rules(Words& command, const std::string& file) const {
    const bool only = request_.phase == Phase::dependencies;
    const bool user = request_.dependencies == DependencyRules::user;
    append(command, {only ? (user ? "-MM" : "-M") : (user ? "-MMD" : "-MD"), "-MF", file, "-MT", "target"});
  }

  Unit plan_unit(const Input& input, const std::string& stem, const std::string& placeholder) const {
    Unit unit;
    unit.input = input;
    unit.output = output_of(input, stem);
    unit.unique = unique_name(input);
    // With -rdc=true the driver still changes the PTX.
    unit.ptx = between(stem + ".ptx");
    unit.host_rules = between(stem + ".host.d");
    unit.device_rules = between(stem + ".device.d");
    unit.host_messages = between(stem + ".host.txt");
    unit.device_messages = between(stem + ".device.txt");
    if (input.language == Language::ptx) return unit;
    plan_dependencies(unit);
    const bool cuda = input.language == Language::cuda;
    if (cuda && !mpi_ && !request_.device_debug && request_.phase >= Phase::ptx) {
      unit.device_flags = device_flags(input, unit.unique);
      unit.host_flags = host_flags(input, unit.unique);
      for (Words* flags : {&unit.device_flags, &unit.host_flags})
        if (!can_be_precompiled(*flags)) flags->clear();
    }
    const Words host = cuda ? host_flags(input, unit.unique) : plain_flags(input.language);
    switch (request_.phase) {
      case Phase::preprocess:
        unit.host = host;
        append(unit.host, {"-E", input.path});
        if (!unit.output.empty()) append(unit.host, {"-o", unit.output});
        break;
      case Phase::dependencies:
        unit.host = host;
        add_rules(unit.host, unit.host_rules);
        if (cuda) unit.device = device_flags(input, unit.unique);
        if (cuda) add_rules(unit.device, unit.device_rules);
        unit.host.push_back(input.path);
        if (cuda) unit.device.push_back(input.path);
        break;
      case Phase::ptx:
      case Phase::fatbin:
      case Phase::cubin:
        if (cuda) unit.device = device_pass(unit);
        break;
      default:
        if (cuda) unit.device = device_pass(unit);
        unit.host = host;
        add_rules(unit.host, unit.host_rules);
        if (cuda) append(unit.host, {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", placeholder});
        append(unit.host, {"-c", input.path, "-o", unit.output});
        break;
    }
    return unit;
  }

  Words device_pass(const Unit& unit) const {
    Words out = device_flags(unit.input, unit.unique);
    add_rules(out, unit.device_rules);
    append(out, {"-S", unit.input.path, "-o", unit.ptx});
    return out;
  }

  // Two objects of one source (compiled with other options) get different names for the symbols that -rdc=true makes
  // visible.
  std::string unique_name(const Input& input) const {
    std::error_code problem;
    std::string text =
        fs::absolute(input.path, problem).string() + '\n' + fs::absolute(request_.output, problem).string();
    for (const Words* words : {&request_.both, &request_.host}) text += '\n' + quoted(*words);
    return fmt::format("{:016x}", std::hash<std::string>{}(text));
  }

  void plan_last_step(Plan& out) const {
    const bool program = request_.phase == Phase::program, device = request_.phase == Phase::device_link;
    out.output = !request_.output.empty() ? request_.output : program ? "a.out" : device ? "a_dlink.o" : "a.a";
    if (request_.output.empty() && !request_.output_directory.empty())
      out.output = request_.output_directory + "/" + out.output;
    out.stub_source = between("device_link.c");
    out.stub = device ? out.output : between("device_link.o");
    out.stub_command = {toolkit_.clang, "-x", "c", "-O1", "-fPIC", "-c", out.stub_source, "-o", out.stub};
    if (request_.phase == Phase::archive) {
      out.archive = {request_.archiver.empty() ? "ar" : request_.archiver, "rcs"};
      append(out.archive, request_.archive);
      out.archive.push_back(out.output);
    }
    if (program) out.link = link_command(out.output);
  }

  // Our libraries exist under two names (cmake/Toolkit.cmake).
  bool has_plain_name(const std::string& library) const {
    std::error_code problem;
    return fs::exists(toolkit_.links + "/nvcc/lib" + library + ".so", problem);
  }

  // The empty word marks the place of the objects.
  Words link_command(const std::string& output) const {
    Words out = {cuda_compiler_, "-Qunused-arguments", "-o", output};
    if (request_.shared) out.push_back("-shared");
    if (surroundings_.colours) out.push_back("-fcolor-diagnostics");
    append(out, host_);
    append(out, {"-Wl,--start-group", ""});
    bool runtime = request_.runtime;
    Words libraries;
    for (const std::string& library : request_.libraries) {
      const bool ours = library == "cudart" || library == "cudart_static" || library == "cudadevrt";
      if (!ours) libraries.push_back(has_plain_name(library) ? "-Wl,-l:nvcc/lib" + library + ".so" : "-l" + library);
      runtime |= ours;
    }
    // Links the runtime by its plain name, too. The -lcudart behind it has no effect; CMake looks for it here.
    if (runtime) append(libraries, {"-Wl,-l:nvcc/libcudart.so", "-Wl,--as-needed", "-lcudart", "-Wl,--no-as-needed"});
    // Our folders come first: a folder of NVIDIA's toolkit on the command line has libraries of the same names.
    append(out, {"-L" + toolkit_.links, "-L" + toolkit_.libraries});
    for (const std::string& folder : request_.library_paths) out.push_back("-L" + folder);
    append(out, libraries);
    out.push_back("-Wl,--end-group");
    append(out, request_.link);
    if (runtime) out.push_back("-Wl,-rpath," + toolkit_.libraries);
    // Our NVRTC has its own folder, because `warpgrind run` prefers NVIDIA's.
    if (std::find(request_.libraries.begin(), request_.libraries.end(), "nvrtc") != request_.libraries.end())
      out.push_back("-Wl,-rpath," + toolkit_.libraries + "/nvrtc");
    return out;
  }

  const Request& request_;
  const Toolkit& toolkit_;
  const Surroundings& surroundings_;
  std::string folder_;
  bool mpi_ = false;
  std::string cuda_compiler_, plain_compiler_;
  Words both_, host_;
};

}  // namespace

Plan make_plan(const Request& request, const Toolkit& toolkit, const Surroundings& surroundings,
               const std::string& folder) {
  return Planner(request, toolkit, surroundings, folder).plan();
}

const char* fatbin_section(const Request& request) {
  return request.relocatable ? "__nv_relfatbin" : ".nv_fatbin";
}

}  // namespace warpgrind::toolchain
