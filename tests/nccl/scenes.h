/* Scenes of program.c, which includes this and has their table: ids made by the program, replays of a graph, several
 * NCCLs in a process. */

/* A captured operation is launched by CUDA, in a thread of its own. */
static int scene_replays(int rank, int size, char** argv) {
    (void)argv;
    ncclComm_t c = world(size, rank);
    OK(NCCL(ncclAllReduce)(buffer, buffer, 1000, ncclFloat32, ncclSum, c, NULL));
    void (*replay)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "fake_nccl_replay");
    must(replay != NULL, "fake_nccl_replay");
    replay(5);
    return 0;
}
/* Each communicator by an id of its own and in a group, as one process makes several: the profile begins after both. */
static int scene_ids(int rank, int size, char** argv) {
    (void)rank, (void)size, (void)argv;
    for (int i = 0; i < 3; ++i) {
        ncclUniqueId id;
        ncclComm_t c;
        OK(NCCL(ncclGetUniqueId)(&id));
        OK(NCCL(ncclGroupStart)());
        OK(NCCL(ncclGroupStart)());
        OK(NCCL(ncclCommInitRank)(&c, 1, id, 0));
        OK(NCCL(ncclGroupEnd)());
        OK(NCCL(ncclGroupEnd)());
        OK(NCCL(ncclAllReduce)(buffer, buffer, 10, ncclFloat32, ncclSum, c, NULL));
        OK(NCCL(ncclCommDestroy)(c));
    }
    return 0;
}
/* Two packages, each with an NCCL of its own. */
static int scene_two(int rank, int size, char** argv) {
    (void)rank, (void)size;
    void* const packages[2] = {dlopen(argv[2], RTLD_NOW | RTLD_LOCAL), dlopen(argv[3], RTLD_NOW | RTLD_LOCAL)};
    int (*use[2])(void);
    for (int i = 0; i < 2; ++i) {
        must(packages[i] != NULL, argv[2 + i]);
        use[i] = (int (*)(void))dlsym(packages[i], "use_nccl");
    }
    for (int i = 0; i < 6; ++i) OK(use[i % 2]());
    return 0;
}
