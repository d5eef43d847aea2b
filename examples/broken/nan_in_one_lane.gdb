break nan_in_one_lane.cu:16 if t == 0
run
print tile
last-write tile[45]
warp variance < 0
print (a * a + b * b + c * c) / 3
print mean * mean
