// What a measurement is: a figure of the process that no call tells. It is started when recording starts, refreshed
// once a period and read a last time when the profile ends; it writes into the profile and nowhere else. The runtime
// goes over the list of them (process/measurements.h); docs/adding-a-measurement.md adds one.
#pragma once

#include <concepts>

#include "libmpiprof/record/image.h"

namespace mpiprof {

// Of what, and into what it is measured.
struct Measured {
    Image& image;
    bool describes_node;          // this rank speaks for its node
    std::uint32_t first_thread;   // that began MPI
    std::uint32_t helper_thread;  // ours; 0: there is none
    format::Header& header() const { return image.header(); }
};

// start() may come again: figures count from then on. refresh() is the helper thread's, which waits for nobody and
// takes no records of the image; the others come under the runtime's lock.
template <class M>
concept Measurement = requires(M m, const Measured& of) {
    { m.start(of) } -> std::same_as<void>;
    { m.refresh(of) } -> std::same_as<void>;
    { m.end(of) } -> std::same_as<void>;
};

// All of some measurements, one after the other.
template <Measurement... M>
class MeasurementList : M... {
  public:
    void start(const Measured& of) { (M::start(of), ...); }
    void refresh(const Measured& of) { (M::refresh(of), ...); }
    void end(const Measured& of) { (M::end(of), ...); }
};

}  // namespace mpiprof
