! As buffers.c, from Fortran: by `use mpi`, whose buffers are addresses, or (compiled with F08) by `use mpi_f08`, whose buffers may
! be descriptors. The middle of a large array is said to be a device's memory.
program buffers
#ifdef F08
  use mpi_f08
#else
  use mpi
#endif
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function cuInit(flags) bind(c, name="cuInit")
      import c_int
      integer(c_int), value :: flags
    end function
    subroutine claim(begin, bytes, kind) bind(c, name="fake_cuda_claim")
      import c_ptr, c_size_t, c_int
      type(c_ptr), value :: begin
      integer(c_size_t), value :: bytes
      integer(c_int), value :: kind
    end subroutine
  end interface
  integer, parameter :: n = 100, middle = 400000, length = 1048576
  double precision, allocatable, target :: there(:)
  double precision :: here(n), other(n)
  integer :: i, ierror
  i = cuInit(0)
  allocate(there(length))
  there = 0
  here = 0
  call claim(c_loc(there), int(8 * length, c_size_t), 2)
  call MPI_Init(ierror)
  do i = 1, 5
    call MPI_Allreduce(here, other, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
  do i = 1, 7
    call MPI_Allreduce(there(middle), other, n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
  do i = 1, 3
    call MPI_Allreduce(MPI_IN_PLACE, there(middle), n, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end do
#ifdef F08
  call MPI_Bcast(there(middle:middle + n - 1), n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
#else
  call MPI_Bcast(there(middle), n, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierror)
#endif
  call MPI_Finalize(ierror)
end program
