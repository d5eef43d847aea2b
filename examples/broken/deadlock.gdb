run
info warps
backtrace
warp 1
backtrace
frame 1
print round
