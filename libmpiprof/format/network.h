// What may move messages between nodes, by the numbers that a NetworkUse has of it: libraries by the beginnings of
// their file names, in the order of their bits, and the device files of adapters. Written by host/network_use, read by
// report/read; a row is never taken out and a new one comes last.
#pragma once

#include <cstddef>

namespace mpiprof::format {

// Parts of Open MPI first, then what MPI libraries stand on. A part that is built into the library has no file.
inline constexpr char network_libraries[][20] = {
    "mca_pml_ob1", "mca_pml_cm",  "mca_pml_ucx",  "mca_mtl_ofi", "mca_mtl_psm2",  "mca_btl_tcp",  "mca_btl_openib",
    "mca_btl_ofi", "mca_btl_uct", "libucp.so",    "libuct_ib.",  "libfabric.so",  "libcxi.so",    "libcxi-fi.so",
    "libefa.so",   "libefa-fi.",  "libpsm2.so",   "libpsm3-fi.", "libverbs-fi.",  "libtcp-fi.so", "libsockets-fi.",
    "libibverbs.", "libhcoll.so", "libpsm_infin", "libopx-fi.",  "mca_btl_vader", "mca_btl_sm",
};
static_assert(sizeof network_libraries / sizeof *network_libraries <= 64, "a bit for each");

}  // namespace mpiprof::format
