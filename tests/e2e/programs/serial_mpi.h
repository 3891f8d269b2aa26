/* What serial_mpi.c and serial_program.c share: types and constants that are no MPI's. */
typedef int Type; /* 0, 1, 2: 1, 4 and 8 bytes */
typedef int Op;
typedef short Comm;
typedef struct {
    long id;
    int unused[6];
} Request;
enum { WORLD = 3, IN_PLACE = -77 };
int MPI_Init(void* argc, void* argv);
int MPI_Initialized(int* flag);
int MPI_Comm_rank(Comm comm, int* rank);
int MPI_Comm_size(Comm comm, int* size);
int MPI_Barrier(Comm comm);
int MPI_Bcast(void* buffer, int count, Type type, int root, Comm comm);
int MPI_Allreduce(const void* from, void* to, int count, Type type, Op op, Comm comm);
int MPI_Allgather(const void* from, int n, Type type, void* to, int m, Type other, Comm comm);
int MPI_Comm_dup(Comm comm, Comm* new_comm);
int MPI_Comm_free(Comm* comm);
int MPI_Send(const void* buffer, int count, Type type, int dest, int tag, Comm comm);
int MPI_Wait(Request* request, void* status);
int MPI_Finalize(void);
int MPI_Abort(Comm comm, int code);
void mpi_init_(int* error);
void mpi_comm_rank__(int* comm, int* rank, int* error);
void mpi_comm_size_(int* comm, int* size, int* error);
void mpi_allreduce_(const void* from, void* to, int* count, int* type, int* op, int* comm, int* error);
void mpi_bcast_(void* buffer, int* count, int* type, int* root, int* comm, int* error);
void mpi_barrier_(int* comm);
void mpi_finalize_(int* error);
void mpi_abort_(int* comm, int* code);
