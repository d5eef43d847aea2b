// NCCL between two processes, and programs that end badly: each test starts this program again, as another process.
#include <fcntl.h>
#include <nccl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "library_test.h"

extern char** environ;

namespace {

using warpgrind::test::Array;

constexpr const char* kIdOfParent = "NCCL_TEST_ID";

void use_virtual_gpus() {
  // Four virtual GPUs, as nccl_test.cpp: the same as `warpgrind run --devices 4`, before the first call of the runtime.
  ::setenv("WARPGRIND_OPTIONS", R"({"gpu": "h200", "devices": 4, "threads": 2, "quiet": true})", 0);
}

std::string hexadecimal(const ncclUniqueId& id) {
  std::string out;
  char digits[3];
  for (const char c : id.internal) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    out += digits;
  }
  return out;
}
ncclUniqueId id_of(const std::string& text) {
  ncclUniqueId id;
  for (std::size_t i = 0; i < sizeof id.internal; ++i)
    id.internal[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  return id;
}

// Another process, which runs one of the disabled tests below.
class Process {
 public:
  explicit Process(const char* test) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    std::string filter = std::string("--gtest_filter=NcclProcesses.DISABLED_") + test;
    char program[] = "/proc/self/exe", also[] = "--gtest_also_run_disabled_tests";
    char* arguments[] = {program, filter.data(), also, nullptr};
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
    EXPECT_EQ(::posix_spawn(&process_, program, &files, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&files);
    ::close(ends[1]);
    output_ = ends[0];
  }
  ~Process() { ::close(output_); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Its exit code; `said` gets its output.
  int wait(std::string& said) {
    char piece[4096];
    for (ssize_t n = 0; (n = ::read(output_, piece, sizeof piece)) > 0;)
      said.append(piece, static_cast<std::size_t>(n));
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, 0), process_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = 0;
  int output_ = -1;
};

// What one rank of three does. The ranks 0 and 1 are in the parent. `result`: 8 elements.
void issue(int rank, ncclComm_t comm, int* data, int* result, int step) {
  switch (step) {
    case 0:
      EXPECT_EQ(ncclAllReduce(data, result, 3, ncclInt, ncclSum, comm, nullptr), ncclSuccess);
      break;
    case 1:
      EXPECT_EQ(ncclReduceScatter(data, result + 3, 1, ncclInt, ncclMax, comm, nullptr), ncclSuccess);
      break;
    case 2:
      EXPECT_EQ(ncclBroadcast(data, result + 4, 1, ncclInt, 2, comm, nullptr), ncclSuccess);
      break;
    case 3:
      EXPECT_EQ(ncclSend(data, 1, ncclInt, (rank + 1) % 3, comm, nullptr), ncclSuccess);
      EXPECT_EQ(ncclRecv(result + 5, 1, ncclInt, (rank + 2) % 3, comm, nullptr), ncclSuccess);
      break;
  }
}
constexpr int kSteps = 4;

void expect_results(int rank, const int* result) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(result[i], 10 + 20 + 30 + 3 * i);
  EXPECT_EQ(result[3], 30 + rank);
  EXPECT_EQ(result[4], 30);
  EXPECT_EQ(result[5], 10 * (rank == 0 ? 3 : rank));
}

TEST(NcclProcesses, DISABLED_Child) {
  use_virtual_gpus();
  const char* text = std::getenv(kIdOfParent);
  ASSERT_TRUE(text);
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRank(&comm, 3, id_of(text), 2), ncclSuccess);
  Array<int> data{30, 31, 32}, result(8);
  for (int step = 0; step < kSteps; ++step) {
    ncclGroupStart();
    issue(2, comm, data.data(), result.data(), step);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  }
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  expect_results(2, result.data());
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST(NcclProcesses, Communicate) {
  use_virtual_gpus();
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ::setenv(kIdOfParent, hexadecimal(id).c_str(), 1);
  Process child("Child");
  ncclComm_t comms[2] = {};
  ncclGroupStart();
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    EXPECT_EQ(ncclCommInitRank(&comms[r], 3, id, r), ncclSuccess);
  }
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  Array<int> first{10, 11, 12}, second{20, 21, 22}, results(16);
  for (int step = 0; step < kSteps; ++step) {
    ncclGroupStart();
    issue(0, comms[0], first.data(), results.data(), step);
    issue(1, comms[1], second.data(), results.data() + 8, step);
    EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  }
  for (int r = 0; r < 2; ++r) {
    cudaSetDevice(r);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  cudaSetDevice(0);
  expect_results(0, results.data());
  expect_results(1, results.data() + 8);
  for (ncclComm_t comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  std::string said;
  EXPECT_EQ(child.wait(said), 0) << said;
}

TEST(NcclProcesses, DISABLED_RankNeverComes) {
  use_virtual_gpus();
  ncclComm_t comms[2] = {};
  ASSERT_EQ(ncclCommInitAll(comms, 2, nullptr), ncclSuccess);
  int* data = nullptr;
  ASSERT_EQ(cudaMalloc(&data, sizeof(int)), cudaSuccess);
  EXPECT_EQ(ncclAllReduce(data, data, 1, ncclInt, ncclSum, comms[0], nullptr), ncclSuccess);
}

// The program ends, and names the rank for which the collective waited.
TEST(NcclProcesses, NameMissingRanks) {
  std::string said;
  Process program("RankNeverComes");
  program.wait(said);
  EXPECT_NE(said.find("ncclAllReduce of rank 0 (call 1 of its communicator) waits for rank 1, which did not call it"),
            std::string::npos)
      << said;
}

TEST(NcclProcesses, DISABLED_CountsDiffer) {
  use_virtual_gpus();
  ncclComm_t comms[2] = {};
  ASSERT_EQ(ncclCommInitAll(comms, 2, nullptr), ncclSuccess);
  Array<int> data(4);
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 1, ncclInt, ncclSum, comms[0], nullptr), ncclSuccess);
  EXPECT_EQ(ncclAllReduce(data.data(), data.data(), 2, ncclInt, ncclSum, comms[1], nullptr), ncclInvalidUsage);
  EXPECT_NE(cudaStreamSynchronize(nullptr), cudaSuccess);
  ncclResult_t error = ncclSuccess;
  EXPECT_EQ(ncclCommGetAsyncError(comms[0], &error), ncclSuccess);
  EXPECT_EQ(error, ncclInvalidUsage);
}

TEST(NcclProcesses, ExplainDifferentCalls) {
  std::string said;
  Process program("CountsDiffer");
  EXPECT_EQ(program.wait(said), 0) << said;
  EXPECT_NE(said.find("rank 0 calls ncclAllReduce of 1 x int32, ncclSum, and rank 1 calls ncclAllReduce of 2 x int32"),
            std::string::npos)
      << said;
}

// A rank of two on another host; hosts.py starts it. The id is in a file.
TEST(NcclProcesses, DISABLED_RankOfHosts) {
  use_virtual_gpus();
  const int rank = std::atoi(std::getenv("NCCL_TEST_RANK"));
  const std::string path = std::getenv("NCCL_TEST_FILE");
  ncclUniqueId id;
  if (rank == 0) {
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess) << ncclGetLastError(nullptr);
    std::ofstream(path + ".part") << hexadecimal(id);
    ASSERT_EQ(std::rename((path + ".part").c_str(), path.c_str()), 0);
  } else {
    std::string text;
    while (!(std::ifstream(path) >> text)) ::usleep(1000);
    id = id_of(text);
  }
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclSuccess) << ncclGetLastError(nullptr);
  Array<int> data{rank + 1, 10}, sum(2), received(2);
  EXPECT_EQ(ncclAllReduce(data.data(), sum.data(), 2, ncclInt, ncclSum, comm, nullptr), ncclSuccess);
  ncclGroupStart();
  EXPECT_EQ(ncclSend(data.data(), 2, ncclInt, 1 - rank, comm, nullptr), ncclSuccess);
  EXPECT_EQ(ncclRecv(received.data(), 2, ncclInt, 1 - rank, comm, nullptr), ncclSuccess);
  EXPECT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(sum[0], 3);
  EXPECT_EQ(received[0], 2 - rank);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

}  // namespace
