// The words that tables and exports print for each enumerator.
#include "report/model/words.h"

namespace mpiprof::report {

std::string_view name_of(Traffic traffic) {
    switch (traffic) {
        case Traffic::none:
            return "none";
        case Traffic::send:
            return "send";
        case Traffic::receive:
            return "receive";
        case Traffic::exchange:
            return "exchange";
        case Traffic::collective:
            return "collective";
        case Traffic::one_sided:
            return "one_sided";
        case Traffic::file:
            return "file";
        case Traffic::completion:
            return "completion";
        case Traffic::probe:
            return "probe";
        case Traffic::sync:
            return "sync";
        case Traffic::setup:
            return "setup";
        case Traffic::local:
            return "local";
        case Traffic::start:
            return "start";
        case Traffic::unknown:
            break;
    }
    return "unknown";
}

std::string_view name_of(Buffer buffer) {
    switch (buffer) {
        case Buffer::host:
            return "host";
        case Buffer::device:
            return "device";
        case Buffer::managed:
            return "managed";
    }
    return "unknown";
}

std::string_view name_of(State state) {
    switch (state) {
        case State::running:
            return "running";
        case State::finalized:
            return "finalized";
        case State::aborted:
            return "aborted";
        case State::exited:
            return "exited";
    }
    return "unknown";
}

std::string_view name_of(CommKind kind) {
    switch (kind) {
        case CommKind::known:
            return "known";
        case CommKind::self:
            return "self";
        case CommKind::by_members:
            return "by_members";
        case CommKind::unknown:
            return "unknown";
        case CommKind::other:
            return "other";
        case CommKind::none:
            break;
    }
    return "none";
}

std::string_view name_of(GpuWorkKind kind) {
    switch (kind) {
        case GpuWorkKind::nccl_kernels:
            return "kernels of NCCL";
        case GpuWorkKind::other_kernels:
            return "other kernels";
        case GpuWorkKind::host_to_device:
            return "copies host to device";
        case GpuWorkKind::device_to_host:
            return "copies device to host";
        case GpuWorkKind::device_to_device:
            return "copies device to device";
        case GpuWorkKind::peer_to_peer:
            return "copies between GPUs";
        case GpuWorkKind::other_copies:
            return "other copies";
        case GpuWorkKind::graph_launches:
            return "launches of CUDA graphs";
        case GpuWorkKind::recorded:
            return "recorded";
        case GpuWorkKind::nccl_running:
            return "NCCL running";
    }
    return "unknown";
}

std::string_view name_of(SettingSource source) {
    switch (source) {
        case SettingSource::fallback:
            return "default";
        case SettingSource::environment:
            return "environment";
        case SettingSource::other_tool:
            return "other_tool";
        case SettingSource::named_file:
            return "named_file";
        case SettingSource::file_for_all:
            return "file_for_all";
    }
    return "unknown";
}

}  // namespace mpiprof::report
