# What the library is linked with. Read by the build and, once installed, by find_package(proprio): a static library
# passes on what it was linked with.
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(EXPAT REQUIRED)
find_package(TBB REQUIRED)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(fcl REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(proprio_lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(proprio_zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(proprio_hdf5 REQUIRED IMPORTED_TARGET hdf5)
pkg_check_modules(proprio_cairo REQUIRED IMPORTED_TARGET cairo)
# ipopt.pc names libraries that only a static Ipopt needs
find_library(PROPRIO_IPOPT ipopt REQUIRED)
