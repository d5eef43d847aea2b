// Finds PTX: in .ptx files, fatbins, executables, shared objects, relocatable objects, and in the memory of a running
// program.
//
// A program holds one IMAGE for each translation unit (or linked object); an image holds the same code several times,
// as PTX and as machine code (cubin) for different architectures. Nothing is unpacked before it is asked for.
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
  bool linked = false;        // machine code linked from the wrapper's other images (version 2): nothing new in it
  std::uint32_t arch = 0;     // compute capability times 10: 90
  std::uint32_t major = 0, minor = 0;  // PTX ISA version (cubins: version of the ELF format)
  bool debug = false;                  // -G
  std::string name;                    // the .cu file, only with -lineinfo or -G
  std::string options;                 // "--generate-line-info"
  std::uint64_t size = 0;              // bytes of the unpacked payload
  std::span<const std::byte> payload;  // as stored, perhaps compressed
  std::shared_ptr<const void> owner;   // keeps `payload` alive; empty for memory of the running program
};

// What __cudaRegisterFatBinary gets: a wrapper of version 1 (one image) or 2 (linked code and an array of relocatable
// images). The memory is trusted as far as its headers say.
Result<std::vector<FatbinEntry>> read_wrapper(const void* wrapper);
// Version 2: its array of images is filled in while the program's objects register themselves.
bool gets_parts_later(const void* wrapper);
// Any file named above; the message of an error names it.
Result<std::vector<FatbinEntry>> read_file(const std::string& path);
// What read_file reads, in memory, which is copied.
Result<std::vector<FatbinEntry>> read_memory(std::span<const std::byte> bytes, const std::string& name);
// An image as cuModuleLoadData takes it, whose size is not given: a fatbin, its wrapper, a cubin, or PTX that ends with
// a NUL. Trusted as far as its headers say, and copied (but for a wrapper's: that is the program's own).
Result<std::vector<FatbinEntry>> read_image(const void* image, const std::string& name);
// One fatbin (magic 0xBA55ED50) or several back to back.
Result<std::vector<FatbinEntry>> read_fatbin(std::span<const std::byte> bytes,
                                             std::shared_ptr<const void> owner = nullptr,
                                             std::uint32_t first_image = 0);

// The PTX text, without the padding NULs; the bytes of the ELF file.
Result<std::string> ptx_text(const FatbinEntry& entry);
Result<std::vector<std::byte>> cubin_bytes(const FatbinEntry& entry);
// Registers per thread of each function in a cubin, as ptxas chose them (attribute EIATTR_REGCOUNT).
Result<std::map<std::string, unsigned>> registers(const FatbinEntry& cubin);

// Whether PTX written for a newer GPU than the modelled one is taken when there is nothing else. The driver refuses it;
// a virtual GPU can run it, since no instruction of it is missing here.
enum class NewerPtx : std::uint8_t { refuse, accept };

struct Choice {
  const FatbinEntry* entry = nullptr;
  bool newer = false;  // its architecture is above the one asked for
  // Beside newer PTX: machine code that such a GPU would run in its place (its own architecture, or a lower one of the
  // same major version).
  bool machine_code = false;
};

// The best PTX of one image for compute capability `cc` (90): the highest architecture not above it.
Result<Choice> choose_ptx(std::span<const FatbinEntry> entries, std::uint32_t image, std::uint32_t cc, NewerPtx newer);
// The numbers of all images that hold code of the program: libcudadevrt's own and empty ones are left out.
std::vector<std::uint32_t> program_images(std::span<const FatbinEntry> entries);

}  // namespace warpgrind::fatbin
