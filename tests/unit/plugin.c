/* A plug-in of unloading_test: it makes calls by a function that it is handed, so that they return to here. NAME: its
   own function's; all else is of one shape, so that one comes to lie where another lay. */
typedef long word;
typedef word (*call)(word, word, word, word);

static __attribute__((noinline)) void NAME(call send, int n) {
    for (int i = 0; i < n; ++i) send(0, 2, 4, 1);
    __asm__ volatile("" ::: "memory");
}

void step(call send, int n) {
    NAME(send, n);
    __asm__ volatile("" ::: "memory");
}
