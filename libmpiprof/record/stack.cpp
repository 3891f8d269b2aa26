// Follows the stack with the unwinder's callback: the frames of this library come first, then the call's.
#include "libmpiprof/record/stack.h"

#include <errno.h>

namespace mpiprof {
namespace {

struct Walk {
    const Unwinder* unwinder;
    CallStack* stack;
    unsigned wanted;
    bool is_inside;  // still among our own frames
};

// What the unwinder wants to hear.
constexpr int go_on = 0, stop = Unwinder::end_of_stack;

int visit(void* context, void* argument) {
    auto& walk = *static_cast<Walk*>(argument);
    CallStack& stack = *walk.stack;
    const auto address = static_cast<Word>(walk.unwinder->ip(context));
    const auto* place = reinterpret_cast<const Word*>(walk.unwinder->cfa(context)) - 1;
    if (walk.is_inside) {  // the first frame of the user's is the one that the call returns to
        if (address != stack.address[0] || place != stack.place[0]) return go_on;
        walk.is_inside = false;
        return walk.wanted > 1 ? go_on : stop;
    }
    if (address == 0) return stop;
    stack.address[stack.depth] = address;
#if defined(__x86_64__)
    stack.place[stack.depth] = *place == address ? place : nullptr;
#else
    stack.place[stack.depth] = nullptr;  // a return address lies wherever its function saved it
#endif
    stack.depth += 1;
    return stack.depth < walk.wanted ? go_on : stop;
}

}  // namespace

CallStack unwind(const Unwinder* unwinder, const Word* frame, Word return_address, unsigned depth) {
    CallStack stack;
    stack.depth = 1;
    stack.address[0] = return_address;
    stack.place[0] = frame;
    if (!unwinder || depth < 2 || !frame) return stack;
    const int error = errno;
    const unsigned wanted = depth < CallStack::deepest ? depth : CallStack::deepest;
    if (unwinder->follows) {
        Following following{stack, wanted};
        unwinder->backtrace(nullptr, &following);
    } else {
        Walk walk{unwinder, &stack, wanted, true};
        unwinder->backtrace(visit, &walk);
    }
    errno = error;
    return stack;
}

}  // namespace mpiprof
