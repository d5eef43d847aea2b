break uninitialised_tile.cu:10 if blockIdx.x == 1 && t == 0
run
print tile
print n - blockDim.x
thread (36,0,0)
print i < n
last-write tile[36]
