break wrong_reduction.cu:10 if t == 0 && step <= 3
run
print step
print tile[0]@6
continue
print step
print tile[0]@3
print tile[0] + tile[1] + tile[2]
