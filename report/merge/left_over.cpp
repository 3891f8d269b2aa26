// The part `left_over`: what the program's own code left over at MPI_Finalize, added up over some of a job's ranks.
// What a library has made is the library's to free, and is left out; so is all of which it is not certain that every
// end was seen.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "report/merge/kept_steps.h"
#include "report/merge/keyed.h"
#include "report/merge/part.h"
#include "report/model/left_over.h"

namespace mpiprof::report {
namespace {

// The program itself, or a script that no package manager has installed.
bool is_programs_own(const Module& module, const Profile& profile) {
    if (!module.is_script) return !module.path.empty() && module.path == profile.executable;
    constexpr std::string_view of_packages[] = {"/site-packages/", "/dist-packages/", "/lib/python"};
    return std::none_of(std::begin(of_packages), std::end(of_packages),
                        [&](std::string_view directory) { return module.path.find(directory) != std::string::npos; });
}

// Whether each end of a handle was seen: another tool in front of us may keep some.
bool are_ends_seen(const Profile& profile) {
    return profile.state == State::finalized && !profile.is_text && !profile.is_behind_a_tool &&
           profile.drops.threads == 0;
}

// Whether each call that completes requests was recorded, and its requests were known.
bool are_completions_seen(const Profile& profile) {
    if (profile.paused_ns != 0 || profile.drops.requests != 0) return false;
    const bool failed = std::any_of(profile.cells.begin(), profile.cells.end(), [&](const Cell& cell) {
        return cell.errors != 0 && profile.calls[cell.call].traffic == Traffic::completion;
    });
    const bool is_chosen = std::any_of(profile.settings.begin(), profile.settings.end(), [](const Setting& setting) {
        return setting.name == "FUNCTIONS" && setting.source != SettingSource::fallback;
    });
    return !failed && !is_chosen;
}

bool is_request(LeftOverKind kind) { return kind == LeftOverKind::request || kind == LeftOverKind::persistent; }

class LeftOverPart {
  public:
    void add(const RankProfile& from);
    void absorb(LeftOverPart&& other) { entries_.absorb(std::move(other.entries_)); }
    // Into Job::left_over, places and modules.
    void finish(Finishing& end);

  private:
    static constexpr std::size_t most_places = 1024;
    struct Key {
        LeftOverKind kind{};
        std::uint16_t call = 0;  // of the registry
        std::string path, build_id;
        std::uint64_t offset = 0;
        auto operator<=>(const Key&) const = default;
    };
    struct Entry {
        LeftOver left_over;  // without its numbers of the job
        Spot spot;

        Entry& operator+=(const Entry& more) {
            left_over.count += more.left_over.count;
            left_over.ranks += more.left_over.ranks;
            left_over.first_rank = std::min(left_over.first_rank, more.left_over.first_rank);
            spot.module.take_run(more.spot.module);
            return *this;
        }
    };

    Keyed<Key, Entry, most_places> entries_;
};

void LeftOverPart::add(const RankProfile& from) {
    const Profile& profile = from.profile;
    if (profile.left_over.empty() || !are_ends_seen(profile)) return;
    const bool knows_requests = are_completions_seen(profile);
    for (const ProfileLeftOver& left : profile.left_over) {
        if (is_request(left.kind) && !knows_requests) continue;
        const Spot spot = spot_of(profile, left.made_at);
        if (spot.offset == 0 || !is_programs_own(spot.module, profile)) continue;
        entries_.add({left.kind, from.calls[left.call], spot.module.path, spot.module.build_id, spot.offset},
                     {.left_over = {.kind = left.kind, .count = left.count, .ranks = 1, .first_rank = profile.rank},
                      .spot = spot});
    }
}

void LeftOverPart::finish(Finishing& end) {
    for (auto& [key, entry] : entries_) {
        LeftOver left = entry.left_over;
        left.call = end.order[key.call];
        left.place = place_of(end.job, entry.spot);
        end.job.left_over.push_back(left);
    }
    std::stable_sort(end.job.left_over.begin(), end.job.left_over.end(), [](const LeftOver& a, const LeftOver& b) {
        return std::make_tuple(a.kind, b.count, a.call) < std::make_tuple(b.kind, a.count, b.call);
    });
}

}  // namespace

std::unique_ptr<MergePart> left_over_part() { return std::make_unique<PartOf<LeftOverPart>>(); }

}  // namespace mpiprof::report
