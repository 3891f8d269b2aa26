// All that is measured of a process besides its calls. A new measurement is one more line here.
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
    ProcessorTime,                     // how long its threads waited for a processor
    AllowedProcessors,                 // how busy its processors were, whoever used them
    CgroupUse,                         // how long its cgroup was kept from the processors, and its memory limit
    NodeCounters,                      // energy and links of the node, by one of its ranks
    NetworkUse,                        // how it reaches other nodes: devices, TCP connections
    Unseen,                            // communication libraries that are loaded and not profiled
    CallCost                           // what a timed call costs in this library
    >;

}  // namespace mpiprof
