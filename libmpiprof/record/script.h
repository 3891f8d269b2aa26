// The callers that a stack of return addresses does not show: those in an interpreted language, where every call comes
// from the same line of the interpreter. wrap/ finds the interpreter, the ledger asks it for each call of such a
// program, and the places become frames of call sites.
#pragma once

#include <cstdint>

namespace mpiprof {

// A place in the program as the interpreter knows it while the call lasts.
struct ScriptFrame {
    const void* code;          // the function
    std::int32_t instruction;  // in it
    std::uint64_t function;    // differs from that of another function that lay there before
};

struct ScriptPlace {
    char file[1024];
    char function[128];
    std::int32_t line, first_line;  // the place, and where its function begins
};

struct Interpreter {
    // Whether a call that returns there comes from the interpreter or one of its modules, and not from a library that a
    // script uses, whose own callers say more.
    bool (*is_its)(std::intptr_t return_address);
    // The frames of the calling thread, innermost first; 0 if it runs no script. For each call: a few loads a frame.
    unsigned (*frames)(ScriptFrame* frames, unsigned most);
    // What people call the place. Once for each new one.
    void (*describe)(const ScriptFrame& frame, ScriptPlace& place);
};

}  // namespace mpiprof
