// Thrust's usual instances, whose kernels a package has compiled (scripts/package_kernels.py). Nothing here runs.
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

template <class T>
void use(thrust::host_vector<T>& host, T sum) {
  thrust::device_vector<T> a = host, b(host.size()), c(host.size(), T(1));
  thrust::device_vector<int> places(host.size());
  thrust::sequence(places.begin(), places.end());
  thrust::fill(b.begin(), b.end(), T(2));
  thrust::sequence(b.begin(), b.end());
  thrust::copy(a.begin(), a.end(), b.begin());
  thrust::transform(a.begin(), a.end(), b.begin(), c.begin(), thrust::plus<T>());
  thrust::transform(a.begin(), a.end(), b.begin(), c.begin(), thrust::multiplies<T>());
  sum = thrust::reduce(a.begin(), a.end());
  sum = thrust::reduce(a.begin(), a.end(), sum);
  sum = thrust::reduce(a.begin(), a.end(), sum, thrust::plus<T>());
  sum = thrust::reduce(a.begin(), a.end(), sum, thrust::maximum<T>());
  thrust::inclusive_scan(a.begin(), a.end(), b.begin());
  thrust::exclusive_scan(a.begin(), a.end(), b.begin());
  thrust::sort(a.begin(), a.end());
  thrust::sort_by_key(a.begin(), a.end(), places.begin());
  host = a;
}

template void use(thrust::host_vector<int>&, int);
template void use(thrust::host_vector<float>&, float);
template void use(thrust::host_vector<double>&, double);
