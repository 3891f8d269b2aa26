// A double is taken apart into its bits: no arithmetic that the program's rounding mode could change.
#include "libmpiprof/base/printed.h"

#include <string.h>

#include <cstdint>

#include "libmpiprof/base/text.h"

namespace mpiprof {
namespace {

constexpr unsigned most_decimals = 9;

// What one conversion prints, before its width is known.
struct Piece {
    char text[48];
    std::size_t length = 0;
    void put(char c) { text[length++] = c; }
    void put_whole(std::uint64_t number, unsigned least_digits = 1) {
        char digits[20];
        unsigned n = 0;
        for (; number != 0 || n < least_digits; number /= 10) digits[n++] = static_cast<char>('0' + number % 10);
        while (n > 0) put(digits[--n]);
    }
    void put_real(double number, unsigned decimals);
};

void Piece::put_real(double number, unsigned decimals) {
    std::uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (bits >> 63) put('-');
    unsigned exponent = bits >> 52 & 0x7ff;
    std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52) - 1);
    if (exponent == 0x7ff) {
        for (const char* c = mantissa ? "nan" : "inf"; *c; ++c) put(*c);
        return;
    }
    if (exponent == 0)
        exponent = 1;
    else
        mantissa |= std::uint64_t{1} << 52;
    std::uint64_t scale = 1;
    for (unsigned i = 0; i < decimals; ++i) scale *= 10;
    // The number is mantissa / 2^shift.
    const int shift = 1075 - static_cast<int>(exponent);
    std::uint64_t whole = 0, fraction = 0;
    if (shift <= 0) {
        whole = shift >= -11 ? mantissa << -shift : ~std::uint64_t{0};  // more than that nobody counts
    } else if (shift < 127) {
        using Wide = unsigned __int128;
        if (shift < 64) whole = mantissa >> shift;
        const std::uint64_t rest = shift < 64 ? mantissa & ((std::uint64_t{1} << shift) - 1) : mantissa;
        const Wide scaled = Wide{rest} * scale, half = Wide{1} << (shift - 1);
        const Wide beyond = scaled & (half * 2 - 1);
        fraction = static_cast<std::uint64_t>(scaled >> shift);
        const bool is_odd = (decimals != 0 ? fraction : whole + fraction) & 1;
        if (beyond > half || (beyond == half && is_odd)) ++fraction;
        if (fraction == scale) {
            ++whole;
            fraction = 0;
        }
    }
    put_whole(whole);
    if (decimals == 0) return;
    put('.');
    put_whole(fraction, decimals);
}

class Out {
  public:
    Out(char* buffer, std::size_t size) : buffer_(buffer), room_(size - 1) {}
    void put(const char* text, std::size_t length) {
        for (std::size_t i = 0; i < length && used_ < room_; ++i) buffer_[used_++] = text[i];
    }
    void put_padded(const char* text, std::size_t length, std::size_t width, bool is_left) {
        if (is_left) put(text, length);
        for (std::size_t i = length; i < width; ++i) put(" ", 1);
        if (!is_left) put(text, length);
    }
    std::size_t end() {
        buffer_[used_] = 0;
        return used_;
    }

  private:
    char* buffer_;
    std::size_t room_, used_ = 0;
};

}  // namespace

std::size_t print_into(char* buffer, std::size_t size, const char* format, va_list arguments) {
    Out out(buffer, size);
    for (const char* f = format; *f;) {
        if (*f != '%') {
            out.put(f++, 1);
            continue;
        }
        const bool is_left = *++f == '-';
        if (is_left) ++f;
        unsigned width = 0, decimals = 6;
        f = read_number(f, width);
        if (*f == '.') f = read_number(f + 1, decimals);
        if (decimals > most_decimals) decimals = most_decimals;
        const bool is_long = f[0] == 'l' && f[1] == 'l';
        if (is_long) f += 2;
        Piece piece;
        const char conversion = *f;
        if (conversion) ++f;
        if (conversion == 's') {
            const char* text = va_arg(arguments, const char*);
            out.put_padded(text, length_of(text), width, is_left);
            continue;
        }
        if (conversion == 'u')
            piece.put_whole(is_long ? va_arg(arguments, unsigned long long)
                                    : std::uint64_t{va_arg(arguments, unsigned)});
        else if (conversion == 'f')
            piece.put_real(va_arg(arguments, double), decimals);
        else if (conversion)
            piece.put(conversion);
        out.put_padded(piece.text, piece.length, width, is_left);
    }
    return out.end();
}

}  // namespace mpiprof
