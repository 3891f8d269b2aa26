// How a communicator is called in tables: by the name that the program gave it, else by the call that made it.
#pragma once

#include <string>
#include <unordered_map>

#include "report/model/job.h"

namespace mpiprof::report {

std::string short_call(const std::string& name);  // without "MPI_"
std::string label_of(const Comm& comm);
// Of a communicator of NCCL: by its name, else by its id.
std::string nccl_label_of(const Comm& comm);

// The labels of communicators that something else refers to.
class CommLabels {
  public:
    explicit CommLabels(const Job& job);
    std::string of(const CommRef& comm) const;

  private:
    std::unordered_map<std::uint64_t, std::string> by_id_;
    std::unordered_map<CommKind, std::string> by_kind_;
};

}  // namespace mpiprof::report
