! Requests and messages that one language sets up, and another starts, waits for, frees or receives. Two ranks exchange
! them; usage: across ROUNDS, and across.c beside it.
program across
  use mpi
  implicit none
  integer :: ierror, me, peer, rounds, i, n, message
  integer :: of_c(2), of_fortran(2), posted(2), statuses(MPI_STATUS_SIZE, 2)
  double precision :: out(500), in(500)
  character(len=16) :: argument
  call get_command_argument(1, argument)
  read (argument, *) rounds
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, me, ierror)
  peer = 1 - me
  out = me

  ! Set up here and freed in C: their handles are given out again.
  call MPI_Send_init(out, 100, MPI_DOUBLE_PRECISION, peer, 14, MPI_COMM_WORLD, of_fortran(1), ierror)
  call MPI_Recv_init(in, 100, MPI_DOUBLE_PRECISION, peer, 14, MPI_COMM_WORLD, of_fortran(2), ierror)
  call c_free(of_fortran(1))
  call c_free(of_fortran(2))
  ! 4000 bytes, set up in C, started, waited for and freed here.
  n = 500
  call c_set_up_send(out, n, peer, of_c(1))
  call c_set_up_receive(in, n, peer, of_c(2))
  do i = 1, rounds
    call MPI_Startall(2, of_c, ierror)
    call MPI_Waitall(2, of_c, statuses, ierror)
  end do
  call MPI_Request_free(of_c(1), ierror)
  call MPI_Request_free(of_c(2), ierror)
  ! 2000 bytes, set up here, started, waited for and freed in C.
  call MPI_Send_init(out, 250, MPI_DOUBLE_PRECISION, peer, 14, MPI_COMM_WORLD, of_fortran(1), ierror)
  call MPI_Recv_init(in, 250, MPI_DOUBLE_PRECISION, peer, 14, MPI_COMM_WORLD, of_fortran(2), ierror)
  do i = 1, rounds
    call c_start(of_fortran(2))
    call c_start(of_fortran(1))
    call c_wait(of_fortran(1))
    call c_test(of_fortran(2))
  end do
  call c_free(of_fortran(1))
  call c_free(of_fortran(2))
  ! Posted in C and waited for here, and the other way round.
  do i = 1, rounds
    call c_post_receive(in, n, peer, posted(1))
    call c_post_send(out, n, peer, posted(2))
    call MPI_Wait(posted(1), MPI_STATUS_IGNORE, ierror)
    call MPI_Waitall(1, posted(2:2), MPI_STATUSES_IGNORE, ierror)
    call MPI_Irecv(in, n, MPI_DOUBLE_PRECISION, peer, 15, MPI_COMM_WORLD, posted(1), ierror)
    call MPI_Isend(out, n, MPI_DOUBLE_PRECISION, peer, 15, MPI_COMM_WORLD, posted(2), ierror)
    call c_wait(posted(1))
    call c_wait(posted(2))
  end do
  ! Probed for in one language, received in the other.
  do i = 1, rounds
    call MPI_Isend(out, n, MPI_DOUBLE_PRECISION, peer, 13, MPI_COMM_WORLD, posted(1), ierror)
    call c_probe(peer, message)
    call MPI_Mrecv(in, n, MPI_DOUBLE_PRECISION, message, MPI_STATUS_IGNORE, ierror)
    call MPI_Wait(posted(1), MPI_STATUS_IGNORE, ierror)
    call MPI_Isend(out, n, MPI_DOUBLE_PRECISION, peer, 16, MPI_COMM_WORLD, posted(1), ierror)
    call MPI_Mprobe(peer, 16, MPI_COMM_WORLD, message, MPI_STATUS_IGNORE, ierror)
    call c_receive(in, n, message)
    call MPI_Wait(posted(1), MPI_STATUS_IGNORE, ierror)
  end do
  call MPI_Finalize(ierror)
end program
