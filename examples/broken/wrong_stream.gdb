break wrong_stream.cu:7 if i == 7
run
print value
continue
print value
last-write in[7]
