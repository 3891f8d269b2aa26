/* A library in C that hands requests and messages to Fortran, and takes them from it: across.f90 calls it. */
#include <mpi.h>

#define HAND_OUT *request = (int)MPI_Request_c2f(mine)
#define TAKE MPI_Request mine = MPI_Request_f2c((MPI_Fint)*request)

void c_set_up_send_(double* out, const int* n, const int* peer, int* request) {
    MPI_Request mine;
    MPI_Send_init(out, *n, MPI_DOUBLE, *peer, 11, MPI_COMM_WORLD, &mine);
    HAND_OUT;
}
void c_set_up_receive_(double* in, const int* n, const int* peer, int* request) {
    MPI_Request mine;
    MPI_Recv_init(in, *n, MPI_DOUBLE, *peer, 11, MPI_COMM_WORLD, &mine);
    HAND_OUT;
}
void c_post_send_(double* out, const int* n, const int* peer, int* request) {
    MPI_Request mine;
    MPI_Isend(out, *n, MPI_DOUBLE, *peer, 12, MPI_COMM_WORLD, &mine);
    HAND_OUT;
}
void c_post_receive_(double* in, const int* n, const int* peer, int* request) {
    MPI_Request mine;
    MPI_Irecv(in, *n, MPI_DOUBLE, *peer, 12, MPI_COMM_WORLD, &mine);
    HAND_OUT;
}
void c_start_(int* request) {
    TAKE;
    MPI_Start(&mine);
}
void c_wait_(int* request) {
    TAKE;
    MPI_Wait(&mine, MPI_STATUS_IGNORE);
    HAND_OUT;
}
void c_test_(int* request) {
    TAKE;
    for (int done = 0; !done;) MPI_Test(&mine, &done, MPI_STATUS_IGNORE);
    HAND_OUT;
}
void c_free_(int* request) {
    TAKE;
    MPI_Request_free(&mine);
    HAND_OUT;
}
void c_probe_(const int* peer, int* message) {
    MPI_Message mine;
    MPI_Mprobe(*peer, 13, MPI_COMM_WORLD, &mine, MPI_STATUS_IGNORE);
    *message = (int)MPI_Message_c2f(mine);
}
void c_receive_(double* in, const int* n, int* message) {
    MPI_Message mine = MPI_Message_f2c((MPI_Fint)*message);
    MPI_Mrecv(in, *n, MPI_DOUBLE, &mine, MPI_STATUS_IGNORE);
}
