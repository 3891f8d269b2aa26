// libunwind's generic interface on x86-64, as its documentation and installed headers give it, and where it is found:
// by path in the system's directories alone, so that no other build of it in LD_LIBRARY_PATH gets into the program.
// Used by general_unwinder.cpp.
#pragma once

#include "libmpiprof/base/basics.h"

namespace mpiprof::libunwind {

using Register = int;
constexpr Register rbx = 3, rbp = 6, rsp = 7, r12 = 12, r13 = 13, r14 = 14, r15 = 15, rip = 16, registers = 17;
constexpr int unspecific = -1, no_information = -10;  // errors
struct Place {                                        // unw_cursor_t
    Word opaque[127];
};
struct Procedure {  // unw_proc_info_t, whose first two members are read here
    Word begin, end;
    Word more[14];
};

// What it asks of the program that is followed. A version that asks for more finds zeros there.
struct Questions {
    int (*find_procedure)(void* space, Word address, Procedure* found, int with_details, void* walk);
    void (*put_procedure)(void* space, Procedure* found, void* walk);
    int (*registered_procedures)(void* space, Word* list, void* walk);
    int (*memory)(void* space, Word address, Word* value, int is_write, void* walk);
    int (*register_value)(void* space, Register number, Word* value, int is_write, void* walk);
    int (*floating_register)(void* space, Register number, void* value, int is_write, void* walk);
    int (*resume)(void* space, Place* cursor, void* walk);
    int (*name)(void* space, Word address, char* name, std::size_t bytes, Word* offset, void* walk);
    void* later[8];
};

// A table that it looks into for a description (unw_dyn_info_t). Versions 1.6 to 1.8 have a word more in front of the
// table's; all have one soname.
struct Table {
    Word next, previous, begin, end, gp;
    std::int32_t format, padding;
    Word rest[6];
    static constexpr std::int32_t offsets_from_begin = 4;  // of functions; those of descriptions have a base
};

struct Functions {
    int (*init)(Place*, void* space, void* walk);
    int (*step)(Place*);
    int (*get)(Place*, Register, Word* value);
    int (*search)(void* space, Word address, Table*, Procedure*, int with_details, void* walk);
    // With a space, which is the argument of the others. False: it is not there, or lacks something. It stays open for
    // as long as the process lasts. The first walk is made by nobody: `questions` are asked with a null walk then.
    bool open(Questions& questions, void*& space);
};

// Whether opening files does no harm at this moment.
bool may_open();

}  // namespace mpiprof::libunwind
