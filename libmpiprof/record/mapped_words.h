// Words of memory of which nobody knows whether they may be read: the kernel hands over a piece at a time and says so
// of what is not mapped. Used for stacks whose bounds nobody tells, and for what lies near a thread's own. A read costs
// a system call for each piece; nothing here can harm the program.
#pragma once

#include <errno.h>
#include <sys/uio.h>

#include "libmpiprof/base/basics.h"

namespace mpiprof {

class MappedWords {
  public:
    // The pieces are as large as the room for them.
    MappedWords(Word* room, std::size_t words) : words_(room), most_(words * sizeof(Word)) {}
    // At a multiple of a word's size. False: nothing that may be read is there.
    [[gnu::noinline]] bool read(std::uintptr_t at, Word& word) {
        if (at - from_ >= read_ && !fetch(at)) return false;
        word = words_[(at - from_) / sizeof(Word)];
        return true;
    }

  private:
    bool fetch(std::uintptr_t at) {
        const iovec to{words_, most_}, from{reinterpret_cast<void*>(at), most_};
        long n = raw(SYS_process_vm_readv, getpid(), raw_address(&to), 1, raw_address(&from), 1);
        if (n < 0 && n != -EFAULT) n = copy(at);
        from_ = at;
        read_ = n > 0 ? static_cast<std::uintptr_t>(n) / sizeof(Word) * sizeof(Word) : 0;
        return read_ != 0;
    }
    // Where the call is forbidden: as much as lies in this page, if it may be read. A mask of signals to be changed in
    // a way that there is none is read before the way is looked at; so nothing changes.
    long copy(std::uintptr_t at) {
        constexpr std::uintptr_t page = 4096;
        constexpr long no_way = -1, mask_bytes = 8;
        if (raw(SYS_rt_sigprocmask, no_way, static_cast<long>(at), 0, mask_bytes) != -EINVAL) return 0;
        std::uintptr_t n = page - at % page;
        if (n > most_) n = most_;
        __builtin_memcpy(words_, reinterpret_cast<const void*>(at), n);
        return static_cast<long>(n);
    }
    std::uintptr_t from_ = 0, read_ = 0;
    Word* words_;
    std::size_t most_;
};

}  // namespace mpiprof
