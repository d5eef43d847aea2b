#!/bin/sh
# dpkg-shlibdeps for the Debian package: without MPI, which one program of the lab needs. The package suggests it.
package=$(dpkg-query -S '*/libmpi.so.40' 2>/dev/null | sed -n '1s/:.*//p')
exec dpkg-shlibdeps ${package:+"-x$package"} "$@"
