/* A library that is only there: what matters is the name under which it is loaded. */
int nothing_here(void) { return 0; }
