! Regions, marks, labels and a pause by the Fortran module, which is compiled with it.
include "../../../include/mpiprof.f90"

program marked
  use mpi
  use mpiprof
  implicit none
  integer :: ierr, i
  real(8) :: x, y
  call mpiprof_label("grid", "512x512")
  call MPI_Init(ierr)
  x = 1
  call mpiprof_begin("solve")
  do i = 1, 20
    call mpiprof_begin("halo  ")
    call MPI_Allreduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call mpiprof_end("halo  ")
    call mpiprof_mark(5)
  end do
  call mpiprof_end("solve")
  call mpiprof_off()
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call mpiprof_on()
  call MPI_Finalize(ierr)
end program
