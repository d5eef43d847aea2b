break wrong_constant.cu:11 if i == 1
run
print sum
print in[0]@3
print weights
print sizeof(weights)
