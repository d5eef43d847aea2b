// Memory and events of two processes. The test starts this program again as the second process. It receives handles
// through a pipe, and its exit status is the result.
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "code.h"

extern char** environ;

namespace warpgrind::driver {

namespace {

constexpr size_t kPage = 2 << 20;  // the granularity of mapped memory
using Words = std::vector<unsigned>;

struct Message {
  CUipcMemHandle memory{}, neighbour{};
  CUipcEventHandle event{}, done{};
  CUmemPoolPtrExportData pointer{};
  int descriptor = -1;
};

// The second process: a disabled test of this program, with a socket to it as standard input.
class Other {
 public:
  explicit Other(const std::string& role) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
    std::string filter = "--gtest_filter=Child.DISABLED_" + role, also = "--gtest_also_run_disabled_tests";
    std::string name = "child";
    char* arguments[] = {name.data(), filter.data(), also.data(), nullptr};
    EXPECT_EQ(::posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    socket_ = ends[0];
  }
  ~Other() { ::close(socket_); }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  void send(const Message& message) const {
    EXPECT_EQ(::write(socket_, &message, sizeof message), static_cast<ssize_t>(sizeof message));
  }
  void receive() const {  // waits for one byte
    char byte = 0;
    EXPECT_EQ(::read(socket_, &byte, 1), 1);
  }
  bool succeeds() const {
    int status = -1;
    ::waitpid(process_, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  pid_t process_ = 0;
  int socket_ = -1;
};

// Called in the second process.
Message receive_message() {
  Message message;
  EXPECT_EQ(::read(0, &message, sizeof message), static_cast<ssize_t>(sizeof message));
  return message;
}
void send_byte() {
  EXPECT_EQ(::write(0, "!", 1), 1);
}

Words read(CUdeviceptr from, size_t count) {
  Words words(count);
  OK(cuMemcpyDtoH(words.data(), from, 4 * count));
  return words;
}
void write(CUdeviceptr to, const Words& words) {
  OK(cuMemcpyHtoD(to, words.data(), 4 * words.size()));
}
CUdeviceptr allocated(const Words& words) {
  CUdeviceptr out = 0;
  OK(cuMemAlloc(&out, 4 * words.size()));
  write(out, words);
  return out;
}

CUmemAllocationProp shareable() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

// Memory of this process, mapped and writable by device 0.
struct Mapped {
  explicit Mapped(CUmemGenericAllocationHandle memory) {
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cuMemAddressReserve(&at, kPage, 0, 0, 0));
    OK(cuMemMap(at, kPage, 0, memory, 0));
    OK(cuMemSetAccess(at, kPage, &access, 1));
  }
  ~Mapped() {
    OK(cuMemUnmap(at, kPage));
    OK(cuMemAddressFree(at, kPage));
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  CUdeviceptr at = 0;
};

class Processes : public test::WithContext {};
class Child : public test::WithModule {};

}  // namespace

// ---- cuIpc*: memory

TEST_F(Child, DISABLED_UsesMemory) {
  const Message message = receive_message();
  CUdeviceptr memory = 0, again = 0, neighbour = 0, base = 0;
  size_t bytes = 0;
  OK(cuIpcOpenMemHandle(&memory, message.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  OK(cuIpcOpenMemHandle(&neighbour, message.neighbour, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  OK(cuMemGetAddressRange(&base, &bytes, memory));
  EXPECT_EQ(base, memory);
  EXPECT_EQ(bytes, 16u);
  EXPECT_EQ(read(memory, 4), (Words{1, 2, 3, 4}));
  EXPECT_EQ(read(neighbour, 2), (Words{7, 8}));
  CUdeviceptr parameter = memory;
  void* parameters[] = {&parameter};
  OK(cuLaunchKernel(function("add_step"), 1, 1, 1, 4, 1, 1, 0, nullptr, parameters, nullptr));
  OK(cuCtxSynchronize());
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  // It is opened twice and closed twice.
  OK(cuIpcOpenMemHandle(&again, message.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  EXPECT_EQ(again, memory);
  OK(cuIpcCloseMemHandle(memory));
  EXPECT_EQ(read(memory, 1), Words{4});
  OK(cuIpcCloseMemHandle(memory));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(&bytes, memory, 4));
  write(neighbour, {70, 80});
  OK(cuIpcCloseMemHandle(neighbour));
}

TEST_F(Processes, ShareMemory) {
  // Three allocations on one host page. Only `memory` and `neighbour` are exported.
  const CUdeviceptr memory = allocated({1, 2, 3, 4}), between = allocated({9}), neighbour = allocated({7, 8});
  Message message;
  Other other("UsesMemory");
  OK(cuIpcGetMemHandle(&message.memory, memory));
  OK(cuIpcGetMemHandle(&message.neighbour, neighbour + 4));  // exports the whole allocation
  EXPECT_EQ(read(memory, 4), (Words{1, 2, 3, 4}));
  other.send(message);
  EXPECT_TRUE(other.succeeds());
  EXPECT_EQ(read(memory, 4), (Words{4, 5, 6, 7}));
  EXPECT_EQ(read(neighbour, 2), (Words{70, 80}));
  EXPECT_EQ(read(between, 1), Words{9});
  for (const CUdeviceptr one : {memory, between, neighbour}) OK(cuMemFree(one));
}

TEST_F(Processes, ShareWhatIsAllocatedWherePagesWereShared) {
  for (unsigned round = 0; round < 3; round++) {
    const CUdeviceptr memory = allocated(Words(5000, round));
    Message message;
    OK(cuIpcGetMemHandle(&message.memory, memory));
    EXPECT_EQ(read(memory, 5000), Words(5000, round));
    OK(cuMemFree(memory));
  }
  CUdeviceptr fresh = 0;
  OK(cuMemAlloc(&fresh, 20000));
  EXPECT_EQ(read(fresh, 5000), Words(5000, 0));
  OK(cuMemFree(fresh));
}

TEST_F(Processes, DoNotShareOtherMemory) {
  CUipcMemHandle handle;
  CUdeviceptr managed = 0, memory = allocated({1}), out = 0;
  int capable = -1;
  OK(cuMemAllocManaged(&managed, 4, CU_MEM_ATTACH_GLOBAL));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, managed));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(nullptr, memory));
  OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, managed));
  EXPECT_EQ(capable, 0);
  OK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, memory));
  EXPECT_EQ(capable, 1);
  // A process cannot open its own memory.
  OK(cuIpcGetMemHandle(&handle, memory));
  FAILS(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle(&out, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&out, handle, 0));
  std::memset(&handle, 1, sizeof handle);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&out, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
#undef cuIpcOpenMemHandle
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcOpenMemHandle(&out, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
#define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(memory));
  OK(cuMemFree(memory));
  OK(cuMemFree(managed));
}

// ---- cuIpc*: events

TEST_F(Child, DISABLED_WaitsForEvents) {
  const Message message = receive_message();
  CUdeviceptr memory = 0;
  CUevent event = nullptr, done = nullptr;
#undef cuIpcOpenMemHandle
  OK(cuIpcOpenMemHandle(&memory, message.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
#define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
  OK(cuIpcOpenEventHandle(&event, message.event));
  OK(cuIpcOpenEventHandle(&done, message.done));
  // The second process has recorded it after a wait that ends only when this one sends its signal.
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(event));
  CUdeviceptr copy = allocated({0, 0});
  OK(cuStreamWaitEvent(nullptr, event, 0));
  OK(cuMemcpyDtoDAsync(copy, memory, 8, nullptr));
  OK(cuMemcpyDtoDAsync(memory + 8, copy, 8, nullptr));
  OK(cuEventRecord(done, nullptr));
  FAILS(CUDA_ERROR_NOT_READY, cuStreamQuery(nullptr));
  send_byte();
  OK(cuEventSynchronize(event));
  OK(cuEventQuery(event));
  EXPECT_EQ(read(copy, 2), (Words{5, 6}));
  OK(cuEventDestroy(event));
  receive_message();  // the exporting process stays until the memory is closed
  OK(cuIpcCloseMemHandle(memory));
}

TEST_F(Processes, WaitForEachOthersEvents) {
  const CUdeviceptr memory = allocated({0, 0, 0, 0}), flag = allocated({0}), source = allocated({5, 6});
  CUevent event = nullptr, done = nullptr, own = nullptr;
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  OK(cuEventCreate(&done, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  Message message;
  OK(cuIpcGetMemHandle(&message.memory, memory));
  OK(cuIpcGetEventHandle(&message.event, event));
  OK(cuIpcGetEventHandle(&message.done, done));
  OK(cuStreamWaitValue32(stream, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
  OK(cuMemcpyDtoDAsync(memory, source, 8, stream));
  OK(cuEventRecord(event, stream));
  const Other other("WaitsForEvents");
  other.send(message);
  other.receive();
  FAILS(CUDA_ERROR_NOT_READY, cuEventQuery(done));  // recorded by the other process, which waits
  OK(cuStreamWriteValue32(nullptr, flag, 1, 0));
  OK(cuEventSynchronize(done));
  EXPECT_EQ(read(memory, 4), (Words{5, 6, 5, 6}));
  other.send(message);
  EXPECT_TRUE(other.succeeds());
  // Recorded here again, it depends on this process.
  OK(cuEventRecord(done, stream));
  OK(cuStreamSynchronize(stream));
  OK(cuEventQuery(done));
  OK(cuEventCreate(&own, CU_EVENT_DISABLE_TIMING));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcGetEventHandle(&message.event, own));
  std::memset(&message.event, 1, sizeof message.event);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuIpcOpenEventHandle(&own, message.event));
  OK(cuStreamDestroy(stream));
  for (const CUdeviceptr one : {memory, flag, source}) OK(cuMemFree(one));
}

// ---- File descriptors: mapped memory

TEST_F(Child, DISABLED_MapsMemory) {
  const Message message = receive_message();
  CUmemGenericAllocationHandle memory = 0;
  CUmemAllocationProp seen{};
  void* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(message.descriptor));
  OK(cuMemImportFromShareableHandle(&memory, descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  ::close(message.descriptor);
  OK(cuMemGetAllocationPropertiesFromHandle(&seen, memory));
  EXPECT_EQ(seen.location.id, 1);
  {
    const Mapped mapped(memory);
    EXPECT_EQ(read(mapped.at, 2), (Words{1, 2}));
    write(mapped.at + kPage - 8, {3, 4});
  }
  OK(cuMemRelease(memory));
}

TEST_F(Processes, MapEachOthersMemory) {
  CUmemAllocationProp properties = shareable(), seen{};
  CUmemGenericAllocationHandle memory = 0, own = 0;
  Message message;
  int supported = 0;
  OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 0));
  EXPECT_EQ(supported, 1);
  OK(cuMemCreate(&memory, kPage, &properties, 0));
  OK(cuMemGetAllocationPropertiesFromHandle(&seen, memory));
  EXPECT_EQ(seen.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  OK(cuMemExportToShareableHandle(&message.descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuMemExportToShareableHandle(&message.descriptor, memory, CU_MEM_HANDLE_TYPE_WIN32, 0));
  {
    const Mapped mapped(memory);
    std::uint64_t types = 0;
    OK(cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, mapped.at));
    EXPECT_EQ(types, std::uint64_t{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR});
    write(mapped.at, {1, 2});
    Other other("MapsMemory");
    other.send(message);
    EXPECT_TRUE(other.succeeds());
    EXPECT_EQ(read(mapped.at + kPage - 8, 2), (Words{3, 4}));
  }
  ::close(message.descriptor);
  OK(cuMemRelease(memory));
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  OK(cuMemCreate(&own, kPage, &properties, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuMemExportToShareableHandle(&message.descriptor, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemRelease(own));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuMemImportFromShareableHandle(&own, nullptr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));  // standard input
}

// ---- File descriptors: pools

TEST_F(Child, DISABLED_UsesPool) {
  const Message message = receive_message();
  CUmemoryPool pool = nullptr;
  CUdeviceptr memory = 0;
  CUmemPoolPtrExportData pointer = message.pointer;
  void* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(message.descriptor));
  OK(cuMemPoolImportFromShareableHandle(&pool, descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemPoolImportPointer(&memory, pool, &pointer));
  EXPECT_EQ(read(memory, 3), (Words{1, 2, 3}));
  write(memory + 8, {30});
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync(&memory, 4, pool, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&pointer, memory));
  OK(cuMemFreeAsync(memory, nullptr));
  OK(cuStreamSynchronize(nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemFree(memory));
  std::memset(&pointer, 1, sizeof pointer);
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolImportPointer(&memory, pool, &pointer));
  OK(cuMemPoolDestroy(pool));
}

TEST_F(Processes, UseEachOthersPools) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr, usual = nullptr;
  CUdeviceptr memory = 0, first = 0, other_memory = 0;
  Message message;
  int supported = 0;
  OK(cuDeviceGetAttribute(&supported, CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0));
  EXPECT_EQ(supported, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  OK(cuMemPoolCreate(&pool, &properties));
  OK(cuMemAllocFromPoolAsync(&first, 5000, pool, nullptr));
  OK(cuMemAllocFromPoolAsync(&memory, 12, pool, nullptr));
  write(memory, {1, 2, 3});
  OK(cuMemPoolExportToShareableHandle(&message.descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemPoolExportPointer(&message.pointer, memory));
  Other other("UsesPool");
  other.send(message);
  EXPECT_TRUE(other.succeeds());
  EXPECT_EQ(read(memory, 3), (Words{1, 2, 30}));
  ::close(message.descriptor);
  OK(cuMemFreeAsync(memory, nullptr));
  OK(cuMemFreeAsync(first, nullptr));
  OK(cuStreamSynchronize(nullptr));
  OK(cuDeviceGetDefaultMemPool(&usual, 0));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuMemPoolExportToShareableHandle(&message.descriptor, usual, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemAllocAsync(&other_memory, 4, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE, cuMemPoolExportPointer(&message.pointer, other_memory));
  OK(cuMemFreeAsync(other_memory, nullptr));
  FAILS(CUDA_ERROR_INVALID_VALUE,
        cuMemPoolImportFromShareableHandle(&usual, nullptr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  OK(cuMemPoolDestroy(pool));
}

}  // namespace warpgrind::driver
