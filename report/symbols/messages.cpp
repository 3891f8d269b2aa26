// Both ends are the same program.
#include "report/symbols/messages.h"

#include "report/model/packed.h"

namespace mpiprof::report {

std::string encode(const SymbolQuestion& question) {
    std::string message;
    put(message, question.module.path);
    put(message, question.module.build_id);
    put(message, question.module.run_began_ns);
    put(message, std::uint64_t{question.module.ran_here});
    put(message, question.offset);
    return message;
}

std::optional<SymbolQuestion> decode_question(std::string_view message) {
    SymbolQuestion question;
    Module& module = question.module;
    std::uint64_t ran_here = 0;
    if (!take(message, module.path) || !take(message, module.build_id) || !take(message, module.run_began_ns) ||
        !take(message, ran_here) || !take(message, question.offset))
        return {};
    module.ran_here = ran_here != 0;
    return question;
}

std::string encode(const Symbol& symbol) {
    std::string message;
    put(message, symbol);
    return message;
}

std::optional<Symbol> decode_symbol(std::string_view message) {
    Symbol symbol;
    return take(message, symbol) ? std::optional(std::move(symbol)) : std::nullopt;
}

}  // namespace mpiprof::report
