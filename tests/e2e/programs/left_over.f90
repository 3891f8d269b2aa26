! What a Fortran program leaves over at MPI_Finalize. Two ranks; the second leaves requests as well.
program left_over
  use mpi
  implicit none
  integer :: ierr, rank, comm, vector, request, buffer(8)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Bcast(buffer, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  call MPI_Comm_split(MPI_COMM_WORLD, 0, rank, comm, ierr)  ! here: part
  call MPI_Barrier(comm, ierr)
  call MPI_Type_vector(2, 1, 2, MPI_INTEGER, vector, ierr)  ! here: types
  call MPI_Type_commit(vector, ierr)
  if (rank == 1) call MPI_Irecv(buffer, 1, MPI_INTEGER, 1, 7, MPI_COMM_WORLD, request, ierr)  ! here: open
  call MPI_Finalize(ierr)
end program left_over
