// Exchange of a rank's edge rows with its neighbours. A "CUDA-aware" MPI takes pointers to GPU memory. Otherwise the
// rows are staged through pinned host memory, which any MPI can send.
#pragma once

#include <mpi.h>
#if __has_include(<mpi-ext.h>)  // Open MPI and its derivatives
#include <mpi-ext.h>
#endif

#include <string>

#include "harness/harness.h"
#include "poisson_mpi/watch.h"

namespace poisson {

enum class HaloPath { device, staged };
struct HaloChoice {
  HaloPath path;
  std::string text;  // the path and the reason for it, for the user
};

// Checks --halo; called before MPI starts.
inline void require_halo(const lab::CommandLine& line) {
  const std::string& asked = line.option("halo");
  if (asked != "auto" && asked != "device" && asked != "staged")
    line.fail("--halo is auto, device or staged, not '" + asked + "'");
}

enum class CudaAware { no, unknown, yes };
inline CudaAware mpi_says() {
#ifdef MPIX_CUDA_AWARE_SUPPORT
  return MPIX_Query_cuda_support() ? CudaAware::yes : CudaAware::no;
#else
  return CudaAware::unknown;
#endif
}

// Returns for example "Open MPI v4.1.4".
inline std::string mpi_name() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(text, &length);
  const std::string all(text, static_cast<size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

// All ranks choose the same path: a device path only if every rank's MPI supports it.
inline HaloChoice choose_halo(const std::string& asked) {
  int least = static_cast<int>(mpi_says());
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const CudaAware aware = static_cast<CudaAware>(least);
  const std::string says = mpi_name() + (aware == CudaAware::yes  ? " says that it is CUDA-aware"
                                         : aware == CudaAware::no ? " says that it is not CUDA-aware"
                                                                  : " does not say whether it is CUDA-aware");
  const bool yes = aware == CudaAware::yes;
  if (asked == "staged" || (asked == "auto" && !yes))
    return {HaloPath::staged,
            "staged through pinned host memory (" + (asked == "auto" ? says : "--halo staged; " + says) + ")"};
  std::string text = "device pointers, handed to MPI (" + (asked == "auto" ? says : "--halo device; " + says) + ")";
  if (!yes)
    text += lab::on_virtual_gpu() ? "\nThe memory of the virtual GPU is the host's: any MPI can send it."
                                  : "\nIf it is not, it crashes at the first row: --halo staged.";
  return {HaloPath::device, text};
}

// A row of numbers in pinned host memory: copies to and from it overlap with the host and the kernels.
class PinnedRow {
 public:
  explicit PinnedRow(int columns) : bytes_(sizeof(double) * columns) { CHECK_CUDA(cudaMallocHost(&data_, bytes_)); }
  ~PinnedRow() { cudaFreeHost(data_); }
  PinnedRow(const PinnedRow&) = delete;
  PinnedRow& operator=(const PinnedRow&) = delete;
  double* data() { return data_; }
  void read(const double* device, cudaStream_t stream) {
    CHECK_CUDA(cudaMemcpyAsync(data_, device, bytes_, cudaMemcpyDeviceToHost, stream));
  }
  void write(double* device, cudaStream_t stream) {
    CHECK_CUDA(cudaMemcpyAsync(device, data_, bytes_, cudaMemcpyHostToDevice, stream));
  }

 private:
  double* data_ = nullptr;
  size_t bytes_;
};

// The rows at the edges of a rank's slab, in its GPU's memory.
struct EdgeRows {
  double *before, *first, *last, *after;  // before and after belong to the neighbours
};

class HaloExchange {
 public:
  HaloExchange(HaloPath path, int columns, Watch& watch)
      : path_(path),
        columns_(columns),
        watch_(watch),
        send_up_(columns),
        send_down_(columns),
        from_up_(columns),
        from_down_(columns) {}

  // Work already in `stream` computes the edge rows. Work added afterwards finds the neighbours' rows.
  void run(const EdgeRows& gpu, cudaStream_t stream) {
    const bool up = watch_.up() != MPI_PROC_NULL, down = watch_.down() != MPI_PROC_NULL;
    const bool staged = path_ == HaloPath::staged;
    if (staged && up) send_up_.read(gpu.first, stream);
    if (staged && down) send_down_.read(gpu.last, stream);
    CHECK_CUDA(cudaStreamSynchronize(stream));  // MPI does not know streams
    send_and_receive(staged ? EdgeRows{from_up_.data(), send_up_.data(), send_down_.data(), from_down_.data()} : gpu);
    if (staged && up) from_up_.write(gpu.before, stream);
    if (staged && down) from_down_.write(gpu.after, stream);
  }

 private:
  void send_and_receive(const EdgeRows& rows) {
    constexpr int kUpwards = 1, kDownwards = 2;
    const int up = watch_.up(), down = watch_.down();
    MPI_Request requests[4];
    watch_.begin();
    MPI_Irecv(rows.before, columns_, MPI_DOUBLE, up, kDownwards, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(rows.after, columns_, MPI_DOUBLE, down, kUpwards, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(rows.first, columns_, MPI_DOUBLE, up, kUpwards, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(rows.last, columns_, MPI_DOUBLE, down, kDownwards, MPI_COMM_WORLD, &requests[3]);
    watch_.wait_for(requests);
  }

  HaloPath path_;
  int columns_;
  Watch& watch_;
  PinnedRow send_up_, send_down_, from_up_, from_down_;
};

}  // namespace poisson
