! A datatype that is freed and made again, so that its handle comes back with another size, at one place in the program: by
! `use mpi` or, compiled with -DF08, `use mpi_f08`. Books its calls. Compile with -cpp. usage: recycled PREFIX
#ifdef F08
#define TYPE_ type(MPI_Datatype)
#define VALUE(t) t%MPI_VAL
#else
#define TYPE_ integer
#define VALUE(t) t
#endif
program recycled
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
    integer, parameter :: sizes = 5, rounds = 30
    TYPE_ :: made
    integer :: ierror, rank, i, j, n, before, came_back
    integer :: out(64)
    character(len=200) :: prefix, path

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    before = 0
    came_back = 0
    out = 0
    do i = 1, rounds
        n = 2 ** mod(i, sizes)
        call MPI_Type_contiguous(n, MPI_INTEGER, made, ierror)
        call MPI_Type_commit(made, ierror)
        if (VALUE(made) == before) came_back = came_back + 1
        before = VALUE(made)
        do j = 1, 12
            call MPI_Bcast(out, 1, made, 0, MPI_COMM_WORLD, ierror)
        end do
        call MPI_Type_free(made, ierror)
    end do
    if (rank == 0 .and. came_back > 0) print '(a)', 'handles came back'

    call get_command_argument(1, prefix)
    write (path, '(a, a, i0, a)') trim(prefix), '.', rank, '.csv'
    open (10, file=path)
    write (10, '(a)') 'rank,call,bin_max_bytes,calls,bytes'
    do i = 0, sizes - 1
        n = 4 * 2 ** i
        write (10, '(i0, a, 3(a, i0))') rank, ',MPI_Bcast', ',', n, ',', 12 * rounds / sizes, ',', 12 * rounds / sizes * n
    end do
    write (10, '(i0, a, i0, a)') rank, ',MPI_Comm_rank,0,', 1, ',0'
    write (10, '(i0, a, i0, a)') rank, ',MPI_Type_contiguous,0,', rounds, ',0'
    write (10, '(i0, a, i0, a)') rank, ',MPI_Type_commit,0,', rounds, ',0'
    write (10, '(i0, a, i0, a)') rank, ',MPI_Type_free,0,', rounds, ',0'
    close (10)
    call MPI_Finalize(ierror)
end program
