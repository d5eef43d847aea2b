break missing_barrier.cu:9
run
print tile[from]
print from
print tile
info warps
watch tile[63]
continue
