// A call of cuBLAS in a program that neither includes its header nor is compiled with -lcublas.
extern "C" int cublasCreate_v2(void** handle);

int main() {
  void* handle = nullptr;
  return cublasCreate_v2(&handle);
}
