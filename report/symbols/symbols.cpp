// The process that looks into programs, and the questions to it. It is made when first asked, answers one question
// after the other, and is made anew if a file was the end of it; that file is then not asked about again.
#include "report/symbols/symbols.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "report/model/base_name.h"
#include "report/model/given_names.h"
#include "report/symbols/demangle.h"
#include "report/symbols/messages.h"
#include "report/symbols/module_file.h"

namespace mpiprof::report {
namespace {

constexpr int patience_s = 30;      // for one answer
constexpr rlim_t most_cpu_s = 120;  // of one process
constexpr rlim_t most_memory = 8ull << 30;
constexpr std::size_t longest_path = 4096;

void limit(__rlimit_resource_t what, rlim_t most) {
    const rlimit limits{most, most};
    setrlimit(what, &limits);
}

using ModuleKey = Symbols::ModuleKey;

// What the answer depends on.
ModuleKey key_of(const Module& module) {
    return {module.path, module.build_id, module.run_began_ns, module.ran_here, module.names.get()};
}

// The life of the process. It never returns: what the reporter has open or has not written yet is not its business.
[[noreturn]] void answer_questions(int socket) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU, most_cpu_s);
    limit(RLIMIT_AS, most_memory);
    std::map<ModuleKey, ModuleFile> files;
    std::string message(longest_message, '\0');
    while (true) {
        const ssize_t n = recv(socket, message.data(), message.size(), 0);
        if (n < 0 && errno == EINTR) continue;
        const auto question = n > 0 ? decode_question({message.data(), static_cast<std::size_t>(n)}) : std::nullopt;
        if (!question) _exit(0);
        const ModuleKey key = key_of(question->module);
        auto file = files.find(key);
        if (file == files.end())
            file = files
                       .emplace(std::piecewise_construct, std::forward_as_tuple(key),
                                std::forward_as_tuple(question->module))
                       .first;
        const std::string reply = encode(file->second.at(question->offset));
        if (send(socket, reply.data(), reply.size(), MSG_NOSIGNAL) < 0) _exit(0);
    }
}

}  // namespace

bool Symbols::start_process() {
    if (process_ > 0) return true;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
    process_ = fork();
    if (process_ == 0) {
        close(ends[0]);
        answer_questions(ends[1]);
    }
    close(ends[1]);
    socket_ = ends[0];
    const timeval patience{patience_s, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (process_ < 0) end_process();
    return process_ > 0;
}

void Symbols::end_process() {
    if (socket_ >= 0) close(socket_);
    if (process_ > 0) {
        kill(process_, SIGKILL);
        while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
        }
    }
    process_ = socket_ = -1;
}

Symbol Symbols::ask(const Module& module, std::uint64_t offset) {
    if (module.path.empty() || module.path.size() > longest_path || offset == 0) return {};
    if (const auto found = hopeless_.find(module.path); found != hopeless_.end())
        return {.lines = {}, .problem = found->second};
    if (!start_process()) return {.lines = {}, .problem = "cannot be looked into: no process can be started for it"};
    const std::string question = encode(SymbolQuestion{module, offset});
    std::string message(longest_message, '\0');
    ssize_t n = send(socket_, question.data(), question.size(), MSG_NOSIGNAL);
    if (n >= 0) do
            n = recv(socket_, message.data(), message.size(), 0);
        while (n < 0 && errno == EINTR);
    const bool is_late = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    auto symbol = n > 0 ? decode_symbol({message.data(), static_cast<std::size_t>(n)}) : std::nullopt;
    if (symbol) return std::move(*symbol);
    end_process();
    hopeless_[module.path] = is_late ? "takes too long to look into" : "is damaged: nothing can be looked up in it";
    return {.lines = {}, .problem = hopeless_[module.path]};
}

const Symbol& Symbols::at(const Module& module, std::uint64_t offset) {
    const auto [symbol, is_new] = known_.try_emplace({key_of(module), offset});
    if (is_new && module.is_script) {  // the interpreter said it all
        symbol->second.lines = {
            {.function = module.build_id, .file = module.path, .line = static_cast<unsigned>(offset)}};
        return symbol->second;
    }
    if (is_new && module.names) {
        if (const Symbol* given = module.names->find(module.path, module.build_id, offset)) symbol->second = *given;
    } else if (is_new) {
        symbol->second = ask(module, offset);
    }
    return symbol->second;
}

std::string source_text(const SourceLine& source, bool is_for_screen) {
    std::string text;
    if (!source.file.empty()) text = fmt::format("{}:{}", base_name(source.file), source.line);
    if (source.function.empty()) return text;
    return text + (text.empty() ? "" : " ") + (is_for_screen ? short_function(source.function) : source.function);
}

std::string place_text(const Symbol& symbol, const Module& module, std::uint64_t offset) {
    std::string text;
    for (const SourceLine& line : symbol.lines)
        if (const std::string part = source_text(line); !part.empty()) text += (text.empty() ? "" : " < ") + part;
    if (!text.empty()) return text;
    if (!module.path.empty()) return fmt::format("{}+{:#x}", base_name(module.path), offset);
    return offset ? fmt::format("{:#x}", offset) : "";
}

std::string short_place_text(const Symbol& symbol, const Module& module, std::uint64_t offset) {
    if (symbol.lines.empty() || symbol.lines.front().file.empty())
        return module.path.empty() ? "" : place_text(symbol, module, offset);
    return fmt::format("{}:{}", base_name(symbol.lines.front().file), symbol.lines.front().line);
}

}  // namespace mpiprof::report
