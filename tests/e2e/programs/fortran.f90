! The same calls through `use mpi` or, compiled with -DF08, through `use mpi_f08`; writes what it made as
! <prefix>.<rank>.csv. Covers what only Fortran has: strings, logicals, IN_PLACE as an address, absent ierror.
! Compile with -cpp. usage: fortran PREFIX
#ifdef F08
#define REQUEST type(MPI_Request)
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define STATUS(n) type(MPI_Status) :: n
#define IERROR
#else
#define REQUEST integer
#define COMM integer
#define DATATYPE integer
#define STATUS(n) integer :: n(MPI_STATUS_SIZE)
#define IERROR , ierror
#endif
program fortran
#ifdef F08
    use mpi_f08
#else
    use mpi
#endif
    implicit none
    integer :: ierror, rank, size, i, left, right, count, length, unit
    logical :: flag, wrong
    double precision :: out(64), in(256)
    character(len=256) :: prefix, path
    character(len=MPI_MAX_OBJECT_NAME) :: name
    REQUEST :: request, requests(2)
    COMM :: half
    DATATYPE :: pair
    STATUS(status)

    wrong = .false.
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank IERROR)
    call MPI_Comm_size(MPI_COMM_WORLD, size IERROR)
    right = mod(rank + 1, size)
    left = mod(rank + size - 1, size)
    out = rank
    do i = 1, 25
        call MPI_Irecv(in, i, MPI_DOUBLE_PRECISION, left, 3, MPI_COMM_WORLD, request IERROR)
        call MPI_Send(out, i, MPI_DOUBLE_PRECISION, right, 3, MPI_COMM_WORLD IERROR)
        call MPI_Wait(request, MPI_STATUS_IGNORE IERROR)
        wrong = wrong .or. in(i) /= left
    end do
    call MPI_Isend(out, 5, MPI_DOUBLE_PRECISION, right, 4, MPI_COMM_WORLD, requests(1) IERROR)
    call MPI_Irecv(in, 64, MPI_DOUBLE_PRECISION, left, 4, MPI_COMM_WORLD, requests(2) IERROR)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE IERROR)
    call MPI_Isend(out, 6, MPI_DOUBLE_PRECISION, right, 5, MPI_COMM_WORLD, request IERROR)
    call MPI_Recv(in, 64, MPI_DOUBLE_PRECISION, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, status IERROR)
    call MPI_Get_count(status, MPI_DOUBLE_PRECISION, count IERROR)
    wrong = wrong .or. count /= 6
    flag = .false.
    i = 0
    do while (.not. flag)
        call MPI_Test(request, flag, MPI_STATUS_IGNORE IERROR)
        i = i + 1
    end do
    in(1:3) = rank
    call MPI_Allreduce(MPI_IN_PLACE, in, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD IERROR)
    wrong = wrong .or. in(3) /= size * (size - 1) / 2
    call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 7, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD IERROR)
    call MPI_Bcast(in, 11, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD IERROR)
    call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair IERROR)
    call MPI_Type_commit(pair IERROR)
    call MPI_Bcast(in, 3, pair, 0, MPI_COMM_WORLD IERROR)
    call MPI_Type_free(pair IERROR)
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half IERROR)
    call MPI_Comm_set_name(half, "half of the world" IERROR)
    call MPI_Comm_get_name(half, name, length IERROR)
    wrong = wrong .or. name(1:length) /= "half of the world"
    call MPI_Reduce_scatter_block(out, in, 1, MPI_DOUBLE_PRECISION, MPI_SUM, half IERROR)
    call MPI_Comm_free(half IERROR)
    call MPI_Barrier(MPI_COMM_WORLD IERROR)

    call get_command_argument(1, prefix)
    write (path, '(a,".",i0,".csv")') trim(prefix), rank
    open (newunit=unit, file=path, action='write')
    write (unit, '(a)') 'rank,call,bin_max_bytes,calls,bytes'
    call book('MPI_Comm_rank', 0, 1, 0)
    call book('MPI_Comm_size', 0, 1, 0)
    call book('MPI_Irecv', 8, 1, 8)
    call book('MPI_Irecv', 16, 1, 16)
    call book('MPI_Irecv', 32, 2, 56)
    call book('MPI_Irecv', 64, 4, 208)
    call book('MPI_Irecv', 128, 8, 800)
    call book('MPI_Irecv', 256, 9, 8 * (17 + 18 + 19 + 20 + 21 + 22 + 23 + 24 + 25))
    call book('MPI_Irecv', 512, 1, 512)
    call book('MPI_Send', 8, 1, 8)
    call book('MPI_Send', 16, 1, 16)
    call book('MPI_Send', 32, 2, 56)
    call book('MPI_Send', 64, 4, 208)
    call book('MPI_Send', 128, 8, 800)
    call book('MPI_Send', 256, 9, 8 * (17 + 18 + 19 + 20 + 21 + 22 + 23 + 24 + 25))
    call book('MPI_Wait', 0, 25, 0)
    call book('MPI_Isend', 64, 2, 88)
    call book('MPI_Waitall', 0, 1, 0)
    call book('MPI_Recv', 64, 1, 48)
    call book('MPI_Get_count', 0, 1, 0)
    call book('MPI_Test', 0, i, 0)
    call book('MPI_Allreduce', 32, 1, 24)
    call book('MPI_Allgather', 64, 1, 56)
    call book('MPI_Bcast', 128, 1, 88)
    call book('MPI_Type_contiguous', 0, 1, 0)
    call book('MPI_Type_commit', 0, 1, 0)
    call book('MPI_Bcast', 64, 1, 48)
    call book('MPI_Type_free', 0, 1, 0)
    call book('MPI_Comm_split', 0, 1, 0)
    call book('MPI_Comm_set_name', 0, 1, 0)
    call book('MPI_Comm_get_name', 0, 1, 0)
    i = (size + 1 - mod(rank, 2)) / 2  ! ranks in this half
    count = 4
    do while (count < 8 * i)
        count = 2 * count
    end do
    call book('MPI_Reduce_scatter_block', count, 1, 8 * i)
    call book('MPI_Comm_free', 0, 1, 0)
    call book('MPI_Barrier', 0, 1, 0)
    close (unit)
    if (rank == 0) print '(a,i0,a,l1)', 'fortran: ', size, ' ranks, wrong results: ', wrong
    call MPI_Finalize(ierror)
    if (wrong) error stop
contains
    subroutine book(call_name, bin_max, calls, bytes)
        character(len=*), intent(in) :: call_name
        integer, intent(in) :: bin_max, calls, bytes
        write (unit, '(i0,",",a,",",i0,",",i0,",",i0)') rank, call_name, bin_max, calls, bytes
    end subroutine
end program
