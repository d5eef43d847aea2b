// slab[d] lies on GPU d.
void exchange(float* const slab[2], int m, int n) {}
