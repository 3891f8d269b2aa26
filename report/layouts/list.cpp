// The list of layouts: a new one is a file beside this and a line here.
#include <array>

#include "report/layouts/ddp.h"
#include "report/layouts/layout.h"
#include "report/layouts/mpitrace.h"

namespace mpiprof::report {
namespace {

constexpr std::array all{
    Layout{"mpitrace", "as mpitrace wrote it around 2020", &mpitrace_older},
    Layout{"mpitrace-2025", "as mpitrace writes it now", &mpitrace_2025},
    Layout{"ddp", "iterations of all ranks as PyTorch's DDP benchmark prints them", nullptr, ddp_text},
};

}  // namespace

std::span<const Layout> layouts() { return all; }

const Layout* find_layout(std::string_view name) {
    for (const Layout& layout : all)
        if (layout.name == name) return &layout;
    return nullptr;
}

}  // namespace mpiprof::report
