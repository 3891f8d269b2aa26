// Hashes of names are FNV-1a.
#include "report/merge/site_keys.h"

#include <string_view>

#include "report/merge/keyed.h"

namespace mpiprof::report {
namespace {

std::uint64_t hash_of(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return mix(hash);
}

// A build-id is one file wherever it lies; a function of a script is one of its file: others have a <module>, too.
std::uint64_t hash_of(const Module& module) {
    if (module.is_script) return mix(hash_of(module.path) + hash_of(module.build_id));
    return hash_of(module.build_id.empty() ? module.path : module.build_id);
}

}  // namespace

CommKind kind_of(const Communicator& communicator) {
    if (communicator.origin == Origin::self) return CommKind::self;
    if (communicator.id == 0) return CommKind::unknown;
    return communicator.is_id_ambiguous ? CommKind::by_members : CommKind::known;
}

SiteKeys::SiteKeys(const Profile& profile) : profile_(profile), sites_(profile.sites.size()) {
    calls_.reserve(profile.calls.size());
    modules_.reserve(profile.modules.size());
    for (const Call& call : profile.calls) calls_.push_back(hash_of(call.name));
    for (const Module& module : profile.modules) modules_.push_back(hash_of(module));
}

std::uint64_t SiteKeys::of(std::uint16_t call, std::uint32_t site) {
    return is_known(profile_, site) ? mix(calls_[call] + of_frames(site)) : calls_[call];
}

std::uint64_t SiteKeys::of_frames(std::uint32_t site) {
    std::uint64_t& hash = sites_[site];
    if (hash != 0) return hash;
    for (const Frame& frame : common(profile_.sites[site])) hash = mix(hash + mix(of_module(frame) + frame.offset) + 1);
    return hash;
}

}  // namespace mpiprof::report
