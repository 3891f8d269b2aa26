# find_package(mpiprof): the target mpiprof::mpiprof has the directory of mpiprof.h. Its functions are weak, so no library
# is linked; mpiprof_library is what LD_PRELOAD takes, and mpiprof_fortran the source of the Fortran module.
get_filename_component(mpiprof_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET mpiprof::mpiprof)
  add_library(mpiprof::mpiprof INTERFACE IMPORTED)
  set_target_properties(mpiprof::mpiprof PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${mpiprof_prefix}/include")
endif()
set(mpiprof_library "${mpiprof_prefix}/lib/libmpiprof.so")
set(mpiprof_fortran "${mpiprof_prefix}/include/mpiprof.f90")
set(mpiprof_FOUND TRUE)
