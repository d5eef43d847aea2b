break overflow.cu:8 if square != (unsigned long long)v * v
run
print v
print square
print (unsigned long long)v * v
whatis v * v
