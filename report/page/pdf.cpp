// ISO 32000-1: a catalog, a page, three of the standard fonts, a stream of drawing operators, and where each object is.
#include "report/page/pdf.h"

#include <fmt/format.h>

#include <vector>

namespace mpiprof::report::page {
namespace {

// UTF-8 as WinAnsiEncoding, which is Latin-1 where letters are; within a string of PDF three characters are escaped.
std::string latin(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const auto c = static_cast<unsigned char>(text[i++]);
        unsigned letter = c;
        std::size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
        if (more != 0) letter = c & (0x3f >> more);
        for (; more != 0 && i < text.size(); --more)
            letter = letter << 6 | (static_cast<unsigned char>(text[i++]) & 0x3f);
        if (letter > 0xff || (letter >= 0x7f && letter < 0xa0) || letter < 0x20) letter = '?';
        if (letter == '(' || letter == ')' || letter == '\\') out += '\\';
        out += static_cast<char>(letter);
    }
    return out;
}

// Of "#2f6fde" the digits from here on.
double part(std::string_view color, std::size_t at) {
    const auto digit = [&](std::size_t i) { return color[i] <= '9' ? color[i] - '0' : color[i] - 'a' + 10; };
    return (16 * digit(at) + digit(at + 1)) / 255.0;
}

}  // namespace

double width_of(std::string_view text, Font font, double size) {
    std::size_t letters = 0;
    for (const char c : text) letters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    const double each = font == Font::bold ? 0.56 : font == Font::regular ? 0.5 : 0.6;
    return static_cast<double>(letters) * each * size;
}

void Pdf::text(double x, double y, Font font, double size, std::string_view text) {
    content_ += fmt::format("BT /F{} {:.1f} Tf {:.1f} {:.1f} Td ({}) Tj ET\n", static_cast<int>(font), size, x,
                            height - y, latin(text));
}

void Pdf::box(double x, double y, double wide, double high, std::string_view color) {
    content_ += fmt::format("{:.3f} {:.3f} {:.3f} rg {:.2f} {:.2f} {:.2f} {:.2f} re f 0 0 0 rg\n", part(color, 1),
                            part(color, 3), part(color, 5), x, height - y - high, wide, high);
}

std::string Pdf::file(std::string_view title) const {
    const auto font = [](const char* name) {
        return fmt::format("<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>", name);
    };
    const std::vector<std::string> objects{
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        fmt::format(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.0f} {:.0f}] /Contents 4 0 R /Resources << /Font << /F0 5 0 "
            "R /F1 6 0 R /F2 7 0 R >> >> >>",
            width, height),
        fmt::format("<< /Length {} >>\nstream\n{}endstream", content_.size(), content_),
        font("Helvetica"),
        font("Helvetica-Bold"),
        font("Courier"),
        fmt::format("<< /Title ({}) /Producer (mpiprof) >>", latin(title)),
    };
    std::string out = "%PDF-1.4\n", places;
    for (std::size_t i = 0; i < objects.size(); ++i) {
        places += fmt::format("{:010} 00000 n \n", out.size());
        out += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
    }
    const std::size_t table = out.size();
    return out +
           fmt::format(
               "xref\n0 {0}\n0000000000 65535 f \n{1}trailer\n<< /Size {0} /Root 1 0 R /Info {2} 0 R >>\nstartxref\n{3}\n%%EOF\n",
               objects.size() + 1, places, objects.size(), table);
}

}  // namespace mpiprof::report::page
