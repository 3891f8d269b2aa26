// A count, then of each place its module, its offset and its symbol.
#include "report/model/given_names.h"

#include "report/model/packed.h"

namespace mpiprof::report {

void GivenNames::add(const std::string& path, const std::string& build_id, std::uint64_t offset, Symbol symbol) {
    symbols_.insert_or_assign({path, build_id, offset}, std::move(symbol));
}

const Symbol* GivenNames::find(const std::string& path, const std::string& build_id, std::uint64_t offset) const {
    const auto found = symbols_.find({path, build_id, offset});
    return found == symbols_.end() ? nullptr : &found->second;
}

std::string GivenNames::packed() const {
    std::string bytes;
    put(bytes, std::uint64_t{symbols_.size()});
    for (const auto& [place, symbol] : symbols_) {
        put(bytes, std::get<0>(place));
        put(bytes, std::get<1>(place));
        put(bytes, std::get<2>(place));
        put(bytes, symbol);
    }
    return bytes;
}

std::optional<GivenNames> GivenNames::unpacked(std::string_view bytes) {
    GivenNames names;
    std::uint64_t count = 0;
    if (!take(bytes, count)) return {};
    for (; count != 0; --count) {
        std::string path, build_id;
        std::uint64_t offset = 0;
        Symbol symbol;
        if (!take(bytes, path) || !take(bytes, build_id) || !take(bytes, offset) || !take(bytes, symbol)) return {};
        names.add(path, build_id, offset, std::move(symbol));
    }
    return bytes.empty() ? std::optional(std::move(names)) : std::nullopt;
}

}  // namespace mpiprof::report
