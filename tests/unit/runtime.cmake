target_sources(${target} PRIVATE api/api_test.cpp)  # kernels and their registration
