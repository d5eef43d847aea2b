// slab[d] is in the memory of GPU d.
void exchange(float* const slab[2], int m, int n) {}
