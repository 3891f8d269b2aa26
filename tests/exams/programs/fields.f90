! Programs in Fortran: a rank that is late to its neighbours, a pipeline, and a healthy one.
!   fields NAME STEPS
program fields
  use mpi
  use iso_c_binding
  implicit none
  interface
    integer(c_int) function usleep(us) bind(c)
      import :: c_int
      integer(c_int), value :: us
    end function
  end interface
  character(len=32) :: name, number
  integer :: rank, n, steps, error
  real(8) :: edge(500), halo(500)

  call get_command_argument(1, name)
  call get_command_argument(2, number)
  read (number, *) steps
  edge = 0
  call mpi_init(error)
  call mpi_comm_rank(MPI_COMM_WORLD, rank, error)
  call mpi_comm_size(MPI_COMM_WORLD, n, error)
  select case (name)
  case ("late_neighbour")
    call late_neighbour
  case ("sweep")
    call sweep
  case ("even_fields")
    call even_fields
  end select
  call mpi_finalize(error)

contains

  subroutine work(ms)
    real(8), intent(in) :: ms
    integer(c_int) :: ignored
    ignored = usleep(int(1000 * ms, c_int))
  end subroutine

  ! Rank 2 has more to do, and its neighbours wait for its edge.
  subroutine late_neighbour
    integer :: i, requests(4)
    do i = 1, steps
      call mpi_irecv(halo, 250, MPI_REAL8, modulo(rank - 1, n), 1, MPI_COMM_WORLD, requests(1), error)
      call mpi_irecv(halo(251), 250, MPI_REAL8, modulo(rank + 1, n), 2, MPI_COMM_WORLD, requests(2), error)
      call work(merge(12d0, 6d0, rank == 2))
      call mpi_isend(edge, 250, MPI_REAL8, modulo(rank + 1, n), 1, MPI_COMM_WORLD, requests(3), error)
      call mpi_isend(edge, 250, MPI_REAL8, modulo(rank - 1, n), 2, MPI_COMM_WORLD, requests(4), error)
      call mpi_waitall(4, requests, MPI_STATUSES_IGNORE, error)
    end do
  end subroutine

  ! From the first to the last rank, one after the other.
  subroutine sweep
    integer :: i
    do i = 1, steps
      if (rank > 0) call mpi_recv(halo, 500, MPI_REAL8, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
      call work(4d0)
      if (rank < n - 1) call mpi_send(edge, 500, MPI_REAL8, rank + 1, 0, MPI_COMM_WORLD, error)
      call mpi_bcast(edge, 500, MPI_REAL8, n - 1, MPI_COMM_WORLD, error)
    end do
  end subroutine

  subroutine even_fields
    integer :: i
    do i = 1, steps
      call work(8d0)
      call mpi_sendrecv(edge, 500, MPI_REAL8, modulo(rank + 1, n), 0, halo, 500, MPI_REAL8, modulo(rank - 1, n), 0, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
    end do
  end subroutine
end program
