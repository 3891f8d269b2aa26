! The last rank takes 60 % longer in each step: slow_rank STEPS
program slow_rank
  use mpi_f08
  implicit none
  integer :: rank, size, step, steps
  real(8) :: mine, all
  character(len=16) :: text
  interface
    integer(4) function usleep(us) bind(c)
      use iso_c_binding
      integer(c_int), value :: us
    end function
  end interface
  call get_command_argument(1, text)
  read (text, *) steps
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, size)
  mine = rank
  do step = 1, steps
    if (usleep(merge(16000, 10000, rank == size - 1)) /= 0) error stop
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end do
  call MPI_Finalize()
end program
