// Memory and events of two processes. The test starts this program again as the second process. It receives handles
// through a socket, and its exit status is the result. (The order of events is tested in
// tests/driver/processes_test.cpp.)
#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api_test.h"

extern char** environ;

namespace warpgrind::runtime {

namespace {

using test::Words;

struct Message {
  cudaIpcMemHandle_t memory{};
  cudaIpcEventHandle_t event{};
  cudaMemPoolPtrExportData pointer{};
  int descriptor = -1;
};

// Runs the disabled test `name` in another process with the message on its standard input. Returns whether it succeeds.
bool succeeds(const std::string& name, const Message& message) {
  int ends[2] = {-1, -1}, status = -1;
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  ::fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 0);
  std::string filter = "--gtest_filter=OtherProcess.DISABLED_" + name, also = "--gtest_also_run_disabled_tests";
  std::string program = "other";
  char* arguments[] = {program.data(), filter.data(), also.data(), nullptr};
  pid_t process = 0;
  EXPECT_EQ(::posix_spawn(&process, "/proc/self/exe", &actions, nullptr, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  EXPECT_EQ(::write(ends[0], &message, sizeof message), static_cast<ssize_t>(sizeof message));
  ::waitpid(process, &status, 0);
  ::close(ends[0]);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Message receive_message() {
  Message message;
  EXPECT_EQ(::read(0, &message, sizeof message), static_cast<ssize_t>(sizeof message));
  return message;
}

std::vector<unsigned> words_at(const void* from, std::size_t count) {
  std::vector<unsigned> words(count);
  OK(cudaMemcpy(words.data(), from, 4 * count, cudaMemcpyDefault));
  return words;
}

}  // namespace

TEST(OtherProcess, DISABLED_UsesMemory) {
  const Message message = receive_message();
  void* memory = nullptr;
  cudaEvent_t event = nullptr;
  OK(cudaIpcOpenMemHandle(&memory, message.memory, cudaIpcMemLazyEnablePeerAccess));
  OK(cudaIpcOpenEventHandle(&event, message.event));
  OK(cudaStreamWaitEvent(nullptr, event, 0));
  EXPECT_EQ(words_at(memory, 2), (std::vector<unsigned>{6, 6}));
  OK(cudaMemset(memory, 0, 4));
  OK(cudaEventRecord(event, nullptr));
  OK(cudaDeviceSynchronize());
  FAILS(cudaErrorInvalidValue, cudaFree(memory));
  OK(cudaIpcCloseMemHandle(memory));
  FAILS(cudaErrorInvalidValue, cudaIpcCloseMemHandle(memory));
  OK(cudaEventDestroy(event));
}

TEST(Processes, ShareMemoryAndEvents) {
  const Words words(2, 6);
  Message message;
  cudaEvent_t event = nullptr, own = nullptr;
  void* out = nullptr;
  OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&own, cudaEventDisableTiming));
  OK(cudaIpcGetMemHandle(&message.memory, words));
  OK(cudaIpcGetEventHandle(&message.event, event));
  OK(cudaEventRecord(event, nullptr));
  EXPECT_TRUE(succeeds("UsesMemory", message));
  OK(cudaEventSynchronize(event));
  EXPECT_EQ(words.read(), (std::vector<unsigned>{0, 6}));
  FAILS(cudaErrorInvalidValue, cudaIpcGetMemHandle(&message.memory, nullptr));
  FAILS(cudaErrorInvalidValue, cudaIpcGetEventHandle(&message.event, own));
  // A process cannot open its own memory.
  FAILS(cudaErrorDeviceUninitialized, cudaIpcOpenMemHandle(&out, message.memory, cudaIpcMemLazyEnablePeerAccess));
  FAILS(cudaErrorInvalidValue, cudaIpcOpenEventHandle(&own, cudaIpcEventHandle_t{}));
  OK(cudaEventDestroy(event));
  OK(cudaEventDestroy(own));
  cudaGetLastError();
}

TEST(OtherProcess, DISABLED_UsesPool) {
  Message message = receive_message();
  cudaMemPool_t pool = nullptr;
  void* memory = nullptr;
  void* const descriptor = reinterpret_cast<void*>(static_cast<std::intptr_t>(message.descriptor));
  OK(cudaMemPoolImportFromShareableHandle(&pool, descriptor, cudaMemHandleTypePosixFileDescriptor, 0));
  OK(cudaMemPoolImportPointer(&memory, pool, &message.pointer));
  EXPECT_EQ(words_at(memory, 1), std::vector<unsigned>{0x01010101});
  OK(cudaMemset(memory, 2, 4));
  OK(cudaFree(memory));
  FAILS(cudaErrorInvalidValue, cudaMemPoolExportPointer(&message.pointer, memory));
  FAILS(cudaErrorInvalidValue, cudaMemPoolImportPointer(&memory, nullptr, &message.pointer));
  std::uint64_t used = 0;
  OK(cudaMemPoolImportPointer(&memory, pool, &message.pointer));
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 4u);
  OK(cudaDeviceReset());
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0u);
  OK(cudaMemPoolDestroy(pool));
}

TEST(Processes, SharePools) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t pool = nullptr, usual = nullptr;
  void* memory = nullptr;
  Message message;
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaMallocFromPoolAsync(&memory, 4, pool, nullptr));
  OK(cudaMemset(memory, 1, 4));
  OK(cudaMemPoolExportToShareableHandle(&message.descriptor, pool, cudaMemHandleTypePosixFileDescriptor, 0));
  OK(cudaMemPoolExportPointer(&message.pointer, memory));
  EXPECT_TRUE(succeeds("UsesPool", message));
  EXPECT_EQ(words_at(memory, 1), std::vector<unsigned>{0x02020202});
  ::close(message.descriptor);
  OK(cudaFree(memory));
  OK(cudaMemPoolDestroy(pool));
  OK(cudaDeviceGetDefaultMemPool(&usual, 0));
  FAILS(cudaErrorInvalidValue,
        cudaMemPoolExportToShareableHandle(&message.descriptor, usual, cudaMemHandleTypePosixFileDescriptor, 0));
  FAILS(cudaErrorInvalidValue,
        cudaMemPoolImportFromShareableHandle(&usual, nullptr, cudaMemHandleTypePosixFileDescriptor, 0));
}

}  // namespace warpgrind::runtime
