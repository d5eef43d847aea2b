// Reader of PTX and cubins from .ptx files, fatbins, executables, shared objects, relocatable objects, and the memory
// of a running program.
//
// A program holds one IMAGE for each translation unit (or linked object). An image holds the same code several times,
// as PTX and as machine code (cubin) for different architectures. Entries are unpacked only on request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace warpgrind::fatbin {

enum class EntryKind : std::uint8_t { ptx, cubin };
enum class Compression : std::uint8_t { none, lz4, zstd };

struct FatbinEntry {
  EntryKind kind = EntryKind::ptx;
  Compression compression = Compression::none;
  std::uint32_t image = 0;    // entries with the same number are alternatives of the same code
  std::uint32_t wrapper = 0;  // images of one wrapper belong together: those of -rdc=true are linked with each other
  bool linked = false;        // machine code linked from the wrapper's other images (version 2): adds no new code
  std::uint32_t arch = 0;     // compute capability times 10: 90
  std::uint32_t major = 0, minor = 0;  // PTX ISA version (cubins: version of the ELF format)
  bool debug = false;                  // -G
  std::string name;                    // the .cu file, only with -lineinfo or -G
  std::string options;                 // "--generate-line-info"
  std::uint64_t size = 0;              // bytes of the unpacked payload
  std::span<const std::byte> payload;  // as stored, possibly compressed
  std::shared_ptr<const void> owner;   // keeps `payload` alive; empty for memory of the running program
};

// Reads the argument of __cudaRegisterFatBinary: a wrapper of version 1 (one image) or version 2 (linked code and an
// array of relocatable images). Sizes in the headers are trusted.
Result<std::vector<FatbinEntry>> read_wrapper(const void* wrapper);
// True for version 2, whose array of images is filled in while the program's objects register themselves.
bool gets_parts_later(const void* wrapper);
// Reads any of the file types above. Error messages name the file.
Result<std::vector<FatbinEntry>> read_file(const std::string& path);
// As read_file, from memory. The bytes are copied.
Result<std::vector<FatbinEntry>> read_memory(std::span<const std::byte> bytes, const std::string& name);
// Reads an image of unknown size, as cuModuleLoadData takes it: a fatbin, its wrapper, a cubin, or NUL-terminated PTX.
// Sizes in the headers are trusted. The image is copied, except for a wrapper's, which the program owns.
Result<std::vector<FatbinEntry>> read_image(const void* image, const std::string& name);
// Reads one fatbin (magic 0xBA55ED50) or several back to back.
Result<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> bytes,
                                             const std::shared_ptr<const void>& owner = nullptr,
                                             std::uint32_t first_image = 0);

// ptx_text: the PTX without padding NULs. cubin_bytes: the ELF file.
Result<std::string> ptx_text(const FatbinEntry& entry);
Result<std::vector<std::byte>> cubin_bytes(const FatbinEntry& entry);

// What ptxas chose for a function, by the attributes that it writes into a cubin (sections .nv.info).
struct MachineCode {
  unsigned registers = 0;             // per thread (EIATTR_REGCOUNT)
  std::uint64_t frame_bytes = 0;      // of local memory per thread, without callees (EIATTR_FRAME_SIZE)
  std::uint64_t stack_bytes = 0;      // ... with callees (EIATTR_MIN_STACK_SIZE)
  std::uint64_t instructions = 0;     // machine instructions, with the padding at the end
  std::vector<std::uint32_t> spills;  // indexes of the instructions that spill or reload registers, in order
};
// By function, for each that has a register count.
Result<std::map<std::string, MachineCode>> machine_code(const FatbinEntry& cubin);

// Use of PTX that the driver refuses for the GPU (for a newer one, or sm_90a for another one), if there is no other. A
// virtual GPU can run it, since it has all of its instructions.
enum class UnfitPtx : std::uint8_t { refuse, accept };

struct Choice {
  const FatbinEntry* entry = nullptr;
  bool unfit = false;  // the driver would refuse it for the requested architecture
  // Set only with `unfit`: the image has machine code that a GPU of the requested architecture would run instead (for
  // that architecture, or for a lower one of the same major version).
  bool machine_code = false;
};

// The best PTX of one image for compute capability `cc` (90): that of the highest architecture that runs there.
Result<Choice> choose_ptx(std::span<const FatbinEntry> entries, std::uint32_t image, std::uint32_t cc, UnfitPtx unfit);
// The highest architecture of an image's PTX; 0: it has none.
std::uint32_t newest_ptx(std::span<const FatbinEntry> entries, std::uint32_t image);
// Numbers of all images that hold code of the program, without libcudadevrt's own and empty ones.
std::vector<std::uint32_t> program_images(std::span<const FatbinEntry> entries);

}  // namespace warpgrind::fatbin
