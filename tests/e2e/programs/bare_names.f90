! Compiled with -fno-underscoring, its calls are mpi_init and mpi_allreduce: names that the library leaves to whoever has them.
program bare_names
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, i, error
  double precision :: mine, total
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, ranks, error)
  do i = 1, 7
    mine = rank + i
    call mpi_allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  if (rank == 0) print '(a, i0, a, f0.1)', 'bare names: ', ranks, ' ranks, ', total
  call mpi_finalize(error)
end program
