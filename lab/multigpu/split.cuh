// The Poisson domain split over several GPUs, one slab of rows each, and the ways in which neighbours exchange edge
// rows with each other.
#pragma once

#include <memory>

#include "poisson/slab.cuh"

namespace poisson {

// Claim: no halo is copied. The first and the last row of the slab read the neighbour's row from the neighbour's
// memory, over the link, while the other rows hide that time.
template <class T>
__global__ void jacobi_peer_load(const T* u, const T* above, const T* below, const T* source, T* out, Grid g) {
  const int x = blockIdx.x * kBlockX + threadIdx.x, y = blockIdx.y * kBlockY + threadIdx.y;
  if (!g.inside(y, x)) return;
  const long i = g.at(y, x);
  const T up = y == 0 ? above[x] : u[i - g.pitch], down = y == g.rows - 1 ? below[x] : u[i + g.pitch];
  out[i] = relaxed(up, down, u[i - 1], u[i + 1], source[i]);
}

// One GPU's part. Two streams, so that edges and interior can run at the same time.
template <class T>
class Slab {
 public:
  Slab(int device, const Grid& whole, const Part& part, const RandomProblem<T>& problem)
      : device(device), g(part.rows, whole.columns), part(part) {
    use();
    start_ = std::make_unique<Field<T>>(g, piece(whole, problem.start, part));
    empty_ = std::make_unique<Field<T>>(g, piece(whole, problem.empty, part));
    source_ = std::make_unique<Field<T>>(g, piece(whole, problem.source, part));
    for (auto& field : fields_) field = std::make_unique<Field<T>>(g);
    for (cudaStream_t* stream : {&stream_, &inner})
      CHECK_CUDA(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking));
    for (cudaEvent_t* event : {&edges_done, &inner_done})
      CHECK_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  ~Slab() {
    use();
    for (cudaStream_t stream : {stream_, inner}) cudaStreamDestroy(stream);
    for (cudaEvent_t event : {edges_done, inner_done}) cudaEventDestroy(event);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  void use() const { CHECK_CUDA(cudaSetDevice(device)); }
  void reset() {
    use();
    fields_[0]->copy_from(*start_);
    fields_[1]->copy_from(*empty_);
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  // The array that sweep `index` reads. The sweep writes field(index + 1).
  T* field(int index) { return fields_[index % 2]->data(); }
  T* edge(int index, bool first) { return field(index) + g.at(first ? 0 : g.rows - 1, 0); }
  T* halo(int index, bool first) { return field(index) + g.at(first ? -1 : g.rows, 0); }
  const T* source() { return source_->data(); }
  cudaStream_t stream() const { return stream_; }
  std::vector<T> result(int index) const { return interior(g, fields_[index % 2]->host()); }

  const int device;
  const Grid g;
  const Part part;
  cudaStream_t inner = nullptr;
  cudaEvent_t edges_done = nullptr, inner_done = nullptr;

 private:
  std::unique_ptr<Field<T>> start_, empty_, source_, fields_[2];
  cudaStream_t stream_ = nullptr;
};

template <class T>
class Domain {
 public:
  Domain(const Grid& whole, int devices, const RandomProblem<T>& problem) {
    for (int d = 0; d < devices; ++d)
      slabs_.push_back(std::make_unique<Slab<T>>(d, whole, part_of(whole.rows, devices, d), problem));
    CHECK_CUDA(cudaSetDevice(0));
    CHECK_CUDA(cudaEventCreateWithFlags(&begin_, cudaEventDisableTiming));
  }
  ~Domain() { cudaEventDestroy(begin_); }
  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  void reset() {
    for (auto& s : slabs_) s->reset();
    CHECK_CUDA(cudaSetDevice(0));
  }
  std::vector<T> result(int sweeps) const {
    std::vector<T> out;
    for (auto& s : slabs_) {
      s->use();
      const std::vector<T> rows = s->result(sweeps);
      out.insert(out.end(), rows.begin(), rows.end());
    }
    CHECK_CUDA(cudaSetDevice(0));
    return out;
  }

  // Sweeps the whole slab, then copies the halo: nothing is computed while rows travel.
  void peer_copy(int sweeps) {
    fork();
    for (int k = 0; k < sweeps; ++k) {
      for (auto& s : slabs_) {
        s->use();
        sweep_rows<T>(s->field(k), s->source(), s->field(k + 1), s->g, 0, s->g.rows, s->stream());
        CHECK_CUDA(cudaEventRecord(s->edges_done, s->stream()));
      }
      for (size_t d = 0; d < slabs_.size(); ++d) fetch_halo(d, k + 1);
    }
    join();
  }

  // Sweeps the edges first. Their rows travel while another stream computes the interior. Begins and ends in `stream`
  // of the first GPU.
  void overlap(int sweeps, cudaStream_t stream = nullptr) {
    fork(stream);
    for (int k = 0; k < sweeps; ++k) {
      for (auto& s : slabs_) {
        s->use();
        // Edges and interior read each other's rows of the sweep before, so each waits for that sweep of the other.
        if (k > 0) CHECK_CUDA(cudaStreamWaitEvent(s->stream(), s->inner_done, 0));
        if (k > 0) CHECK_CUDA(cudaStreamWaitEvent(s->inner, s->edges_done, 0));
        sweep_edges<T>(s->field(k), s->source(), s->field(k + 1), s->g, s->stream());
        CHECK_CUDA(cudaEventRecord(s->edges_done, s->stream()));
        sweep_rows<T>(s->field(k), s->source(), s->field(k + 1), s->g, 1, s->g.rows - 1, s->inner);
        CHECK_CUDA(cudaEventRecord(s->inner_done, s->inner));
      }
      for (size_t d = 0; d < slabs_.size(); ++d) fetch_halo(d, k + 1);
    }
    join(stream);
  }

  // The same as one graph over all GPUs: the host issues once, instead of a dozen calls a GPU and sweep.
  cudaGraphExec_t overlap_graph(int sweeps) {
    CHECK_CUDA(cudaSetDevice(0));
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    overlap(sweeps, stream);
    CHECK_CUDA(cudaStreamEndCapture(stream, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&ready, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaStreamDestroy(stream));
    return ready;
  }

  // Neighbours read each other's memory. A sweep begins when the neighbours have finished the sweep before.
  void peer_load(int sweeps) {
    fork();
    for (int k = 0; k < sweeps; ++k) {
      for (size_t d = 0; d < slabs_.size() && k > 0; ++d)
        for (Slab<T>* other : {neighbour(d, -1), neighbour(d, +1)})
          if (other) CHECK_CUDA(cudaStreamWaitEvent(slabs_[d]->stream(), other->edges_done, 0));
      for (size_t d = 0; d < slabs_.size(); ++d) {
        Slab<T>& s = *slabs_[d];
        s.use();
        Slab<T>*before = neighbour(d, -1), *after = neighbour(d, +1);
        const T* above = before ? before->edge(k, false) : s.halo(k, true);
        const T* below = after ? after->edge(k, true) : s.halo(k, false);
        const dim3 grid(lab::blocks(s.g.columns, kBlockX), lab::blocks(s.g.rows, kBlockY));
        jacobi_peer_load<T><<<grid, dim3(kBlockX, kBlockY), 0, s.stream()>>>(s.field(k), above, below, s.source(),
                                                                             s.field(k + 1), s.g);
        CHECK_CUDA(cudaEventRecord(s.edges_done, s.stream()));
      }
    }
    join();
  }

 private:
  Slab<T>* neighbour(size_t d, int step) {
    const size_t other = d + step;  // wraps below 0
    return other < slabs_.size() ? slabs_[other].get() : nullptr;
  }
  // Copies the neighbours' new edge rows into the halo of slab d.
  void fetch_halo(size_t d, int index) {
    Slab<T>& s = *slabs_[d];
    s.use();
    const size_t bytes = sizeof(T) * s.g.columns;
    for (const int step : {-1, +1}) {
      Slab<T>* other = neighbour(d, step);
      if (!other) continue;
      CHECK_CUDA(cudaStreamWaitEvent(s.stream(), other->edges_done, 0));
      // With unified addresses, the same copy as cudaMemcpyPeerAsync, which stream capture does not support.
      CHECK_CUDA(
          cudaMemcpyAsync(s.halo(index, step < 0), other->edge(index, step > 0), bytes, cudaMemcpyDefault, s.stream()));
    }
  }
  // All work between fork() and join() lies between two points of one stream of the first GPU, which is timed.
  void fork(cudaStream_t origin = nullptr) {
    CHECK_CUDA(cudaSetDevice(0));
    CHECK_CUDA(cudaEventRecord(begin_, origin));
    for (auto& s : slabs_) {
      CHECK_CUDA(cudaStreamWaitEvent(s->stream(), begin_, 0));
      CHECK_CUDA(cudaStreamWaitEvent(s->inner, begin_, 0));
    }
  }
  void join(cudaStream_t origin = nullptr) {
    for (auto& s : slabs_) {
      s->use();
      CHECK_CUDA(cudaEventRecord(s->edges_done, s->stream()));
      CHECK_CUDA(cudaEventRecord(s->inner_done, s->inner));
    }
    CHECK_CUDA(cudaSetDevice(0));
    for (auto& s : slabs_) {
      CHECK_CUDA(cudaStreamWaitEvent(origin, s->edges_done, 0));
      CHECK_CUDA(cudaStreamWaitEvent(origin, s->inner_done, 0));
    }
  }

  std::vector<std::unique_ptr<Slab<T>>> slabs_;
  cudaEvent_t begin_ = nullptr;
};

}  // namespace poisson
