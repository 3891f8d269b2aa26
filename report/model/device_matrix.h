// How the devices of a node are connected, as a tool on that node said it: `nvidia-smi topo -m`, which sees NVLinks.
// read/ makes it of the tool's text; placement shows it.
#pragma once

#include <string>
#include <vector>

namespace mpiprof::report {

struct DeviceMatrix {
    struct Device {
        std::string name;                      // "GPU0", "mlx5_2"
        std::vector<std::string> connections;  // to each device, in their order: "X", "NV2", "SYS"
        std::string cores;                     // beside it; empty: not said
        std::string numa_node;
    };
    std::string source;  // the file
    std::vector<Device> devices;
};

}  // namespace mpiprof::report
