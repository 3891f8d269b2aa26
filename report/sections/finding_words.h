// Findings in words: one function for each kind of evidence, so that a sentence stands in one place and what it says is
// nowhere worked out. For the sections summary and placement.
#pragma once

#include <string>

#include "report/analysis/finding.h"
#include "report/model/table.h"
#include "report/sections/vocabulary.h"

namespace mpiprof::report {

std::string words_of(const Finding& finding, const Job& job);

// What stands behind the share of time that ranks waited for a processor: how it is known.
std::string how_it_was_found(const evidence::Crowded& e);

// What one call costs that sets up, and what it is with all others: "200 us each: 20% of the run, and 35% with ...".
std::string cost_text(const evidence::Setup& e);

// What to do about it, in the words of whoever started the ranks; of placements only, else empty.
std::string advice_of(const Finding& finding, const Job& job);

// A table of findings and other remarks.
Table remark_table(std::string title, Remarks remarks);

// A finding that is being put into words.
struct FindingWords {
    const Finding& finding;
    const Job& job;
    const Vocabulary& words;

    // finding_words.cpp
    std::string operator()(const evidence::Hung& e) const;
    std::string operator()(const evidence::Unfinished& e) const;
    std::string operator()(const evidence::Errors& e) const;
    std::string operator()(const evidence::Paused& e) const;
    std::string operator()(const evidence::Overlap& e) const;
    std::string operator()(const evidence::Crowded& e) const;
    std::string operator()(const evidence::Waiting& e) const;
    std::string operator()(const evidence::Waits& e) const;
    std::string operator()(const evidence::Requests& e) const;
    std::string operator()(const evidence::Imbalance& e) const;
    std::string operator()(const evidence::Polling& e) const;
    std::string operator()(const evidence::NcclWaiting& e) const;
    std::string operator()(const evidence::NcclExposed& e) const;
    std::string operator()(const evidence::GpuIdle& e) const;
    std::string operator()(const evidence::GraphReplays& e) const;
    std::string operator()(const evidence::Dropped& e) const;
    std::string operator()(const evidence::Order& e) const;
    std::string operator()(const evidence::LeftOvers& e) const;

    // cause_words.cpp
    std::string operator()(const evidence::Varying& e) const;
    std::string operator()(const evidence::SerialChain& e) const;
    std::string operator()(const evidence::OneServesAll& e) const;
    std::string operator()(const evidence::SmallMessages& e) const;
    std::string operator()(const evidence::CheapCalls& e) const;
    std::string operator()(const evidence::UnequalComms& e) const;
    std::string operator()(const evidence::Init& e) const;
    std::string operator()(const evidence::Setup& e) const;
    std::string operator()(const evidence::FileIo& e) const;
    std::string operator()(const evidence::Transfers& e) const;
    std::string operator()(const evidence::Healthy& e) const;
    std::string operator()(const evidence::WrongLauncher& e) const;

    // placement_words.cpp
    std::string operator()(const evidence::Masks& e) const;
    std::string operator()(const evidence::TooMany& e) const;
    std::string operator()(const evidence::Threads& e) const;
    std::string operator()(const evidence::Starved& e) const;
    std::string operator()(const evidence::Beyond& e) const;
    std::string operator()(const evidence::Throttled& e) const;
    std::string operator()(const evidence::Memory& e) const;
    std::string operator()(const evidence::Unbound& e) const;
    std::string operator()(const evidence::Spread& e) const;
    std::string operator()(const evidence::FarGpu& e) const;
    std::string operator()(const evidence::FarAdapter& e) const;

    const std::string& call() const { return job.calls[finding.calls.front()].name; }
};

}  // namespace mpiprof::report
