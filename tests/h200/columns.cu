// Matrices whose columns are far apart, read or written by columns: times between events, for
// lab/results/h200/columns.csv.
//   columns REPEATS ROWSxCOLUMNS...
// A row of the result holds `columns` floats; those of a column of the source lie next to each other, so two columns
// are 4 x ROWS bytes apart. The fastest of the repetitions is printed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                                                    \
  do {                                                                                                 \
    const cudaError_t error = call;                                                                    \
    if (error != cudaSuccess) return fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)), 1; \
  } while (0)

// A block has 64 neighbours of a row.
__global__ void read_by_columns(const float* from, float* to, int rows, int columns) {
  const int per = columns / blockDim.x;
  const int row = blockIdx.x / per, column = blockIdx.x % per * blockDim.x + threadIdx.x;
  to[(long)row * columns + column] = from[(long)column * rows + row];
}
__global__ void write_by_columns(const float* from, float* to, int rows, int columns) {
  const int per = columns / blockDim.x;
  const int row = blockIdx.x / per, column = blockIdx.x % per * blockDim.x + threadIdx.x;
  to[(long)column * rows + row] = from[(long)row * columns + column];
}
// The same through a tile of shared memory.
__global__ void tiled(const float* from, float* to, int rows, int columns) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = from[(long)(y + j) * rows + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) to[(long)(y + j) * columns + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? atoi(argv[1]) : 5;
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  printf("rows,columns,kernel,us\n");
  for (int k = 2; k < argc; ++k) {
    int rows = 0, columns = 0;
    if (sscanf(argv[k], "%dx%d", &rows, &columns) != 2) return 2;
    const long n = (long)rows * columns;
    float *from, *to;
    CHECK(cudaMalloc(&from, 4 * n));
    CHECK(cudaMalloc(&to, 4 * n));
    const char* names[] = {"read_by_columns", "write_by_columns", "tiled"};
    for (int which = 0; which < 3; ++which) {
      float best = 1e30f;
      for (int r = 0; r < repeats; ++r) {
        CHECK(cudaEventRecord(begin));
        if (which == 0) read_by_columns<<<n / 64, 64>>>(from, to, rows, columns);
        if (which == 1) write_by_columns<<<n / 64, 64>>>(from, to, rows, columns);
        if (which == 2) tiled<<<dim3(rows / 32, columns / 32), dim3(32, 8)>>>(from, to, rows, columns);
        CHECK(cudaEventRecord(end));
        CHECK(cudaDeviceSynchronize());
        float ms = 0;
        CHECK(cudaEventElapsedTime(&ms, begin, end));
        best = std::min(best, ms);
      }
      printf("%d,%d,%s,%.2f\n", rows, columns, names[which], best * 1e3f);
    }
    CHECK(cudaFree(from));
    CHECK(cudaFree(to));
  }
}
