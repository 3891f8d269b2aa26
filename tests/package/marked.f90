! Marks by the Fortran module, without MPI: it has to compile and run without the profiler.
program marked
  use mpiprof
  implicit none
  call mpiprof_label("grid", "512x512")
  call mpiprof_begin("solve")
  call mpiprof_mark(5)
  call mpiprof_end("solve")
  call mpiprof_off()
  call mpiprof_on()
end program
