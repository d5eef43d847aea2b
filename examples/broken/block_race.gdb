break block_race.cu:9 if i == 64
run
print left
last-write data[63]
print i
print data[i]
print mean
