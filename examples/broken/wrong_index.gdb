run
warp pixel
print x
print y
print width * height
print y * width + x
