// The ports of this node's fabric adapters: whether each has a link, of which kind and how fast, and which device file
// is whose. Facts of the node, at start; called by record_place() where this rank speaks for its node. Opens no device.
#pragma once

#include "libmpiprof/record/image.h"

namespace mpiprof {

// `root` is put before /sys, for tests.
void record_network_ports(Image& image, const char* root = "");

}  // namespace mpiprof
