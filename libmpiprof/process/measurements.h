// All that is measured of a process besides its calls. A new measurement is one more line here. The large tables of
// NodeCounters and ProcessorTime, most of which no process touches, lie at the two ends of what is small.
#pragma once

#include "libmpiprof/host/allowed_processors.h"
#include "libmpiprof/host/call_cost.h"
#include "libmpiprof/host/cgroup.h"
#include "libmpiprof/host/network_use.h"
#include "libmpiprof/host/node_counters.h"
#include "libmpiprof/host/processor_time.h"
#include "libmpiprof/host/resource_use.h"
#include "libmpiprof/host/unseen.h"

namespace mpiprof {

using Measurements = MeasurementList<  //
    ResourceUse,                       // CPU time, memory, faults, blocks, switches
    NodeCounters,                      // energy and links of the node, by one of its ranks
    AllowedProcessors,                 // how busy its processors were, whoever used them
    NetworkUse,                        // how it reaches other nodes: devices, TCP connections
    Unseen,                            // communication libraries that are loaded and not profiled
    ProcessorTime,                     // how long its threads waited for a processor
    CgroupUse,                         // how long its cgroup was kept from the processors, and its memory limit
    CallCost                           // what a timed call costs in this library
    >;

}  // namespace mpiprof
