// A value that is `first` at first and whose bits are all 0 then. One word of an object that is not 0 makes the linker
// store the whole object in the file: hundreds of kilobytes of zeros for `runtime`. For members of objects that live as
// long as the process.
#pragma once

namespace mpiprof {

template <class T, T first>
class AtFirst {
  public:
    constexpr operator T() const { return bits_ ^ first; }
    constexpr AtFirst& operator=(T value) {
        bits_ = value ^ first;
        return *this;
    }

  private:
    T bits_ = 0;
};

}  // namespace mpiprof
