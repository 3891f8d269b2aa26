// An asterisk marks a communicator that only its members tell from others: one of the same members looks alike.
#include "report/sections/comm_labels.h"

#include <fmt/format.h>

namespace mpiprof::report {

std::string short_call(const std::string& name) { return name.starts_with("MPI_") ? name.substr(4) : name; }

namespace {

// Open MPI names what the program does not: "MPI COMMUNICATOR 3 SPLIT FROM 0".
bool is_named(const Comm& comm) { return !comm.name.empty() && !comm.name.starts_with("MPI COMMUNICATOR "); }

std::string name_or_making(const Comm& comm) {
    if (is_named(comm)) return comm.name;
    return fmt::format("({})", comm.made_by.empty() ? "unnamed" : short_call(comm.made_by));
}

}  // namespace

std::string label_of(const Comm& comm) {
    switch (comm.kind) {
        case CommKind::none:
            return "(none)";
        case CommKind::other:
            return "(others)";
        case CommKind::unknown:
            return "(of several worlds)";
        case CommKind::self:
            return is_named(comm) ? comm.name : "MPI_COMM_SELF";
        case CommKind::by_members:
            return name_or_making(comm) + " *";
        case CommKind::known:
            break;
    }
    return name_or_making(comm);
}

std::string nccl_label_of(const Comm& comm) {
    if (comm.kind == CommKind::none) return "(none)";
    if (comm.kind != CommKind::known) return "(other)";
    return comm.name.empty() ? fmt::format("{:016x}", comm.id) : comm.name;
}

CommLabels::CommLabels(const Job& job) {
    for (const Comm& comm : job.comms) {
        if (comm.id != 0) by_id_.emplace(comm.id, label_of(comm));
        by_kind_.emplace(comm.kind, label_of(comm));
    }
}

std::string CommLabels::of(const CommRef& comm) const {
    if (comm.id != 0) {
        const auto found = by_id_.find(comm.id);
        return found == by_id_.end() ? "(others)" : found->second;
    }
    const auto found = by_kind_.find(comm.kind);
    return found == by_kind_.end() ? "" : found->second;
}

}  // namespace mpiprof::report
