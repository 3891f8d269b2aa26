// The profile's table of communicators, which the libraries share: cells name a communicator by its index here, whichever
// library made it. Record 0 stands for those that are not told apart.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

class CommunicatorTable {
  public:
    struct Place {
        format::Communicator* record;  // to be filled; null: no room
        std::uint16_t index;           // 0: not told apart
    };
    // A place for one more.
    Place take(Image& image);

  private:
    static constexpr unsigned most = 1024;  // in a profile
    Lock lock_;
    format::Table* table_ = nullptr;
    unsigned used_ = 0;
};

}  // namespace mpiprof
