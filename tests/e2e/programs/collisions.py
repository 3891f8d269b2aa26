"""Writes a library and a program in C that know nothing of MPI, and whose functions and variables have the names that
Fortran's binding has without an underscore (mpi_init), or in capitals (MPI_INIT). cases/foreign_names.py compiles both.

What the functions take and return is what MPI's would not: doubles, structures by value, ten arguments, long doubles. The
program calls each directly, through its address, and through the library that calls its own function."""

# What is done with one name: declaration and body, and the call. @ is the name, # its number.
FUNCTIONS = (
    ("double @(double a, int b)", "return a * 1.5 + b + #;", "print_double(CALL(2.25, 3));"),
    ("struct Pair @(struct Pair p, struct Big big)",
     "return (struct Pair){p.x + big.text[3] + #, p.n * 2 + big.z};",
     "{ struct Pair got = CALL(((struct Pair){0.5, 7}), ((struct Big){1.0, \"abcdefg\", 9})); print_double(got.x); print_int(got.n); }"),
    ("long @(int a, double b, long c, float d, short e, char *f, unsigned g, double h, long long i, int j)",
     "return a + (long)b * 3 + c + (long)(d * 2) + e + f[1] + g + (long)h + i * 7 + j + #;",
     "print_int(CALL(1, 2.5, 3L, 4.5f, 5, \"six\", 7u, 8.5, -9LL, 10));"),
    ("long double @(long double a, float b)", "return a / 3 + b + #;", "print_double((double)CALL(1.0L, 0.25f));"),
    ("int @(int bits)", "return bits ? bits * 8 + # : -#;", "print_int(CALL(0)); print_int(CALL(5));"),
    ("struct Big @(void)", "struct Big big = {# + 0.5, \"hello\", -#}; return big;",
     "{ struct Big got = CALL(); print_double(got.y); print_int(got.z); puts(got.text); }"),
    ("void @(double *out, ...)", "*out = # + 0.75;", "{ double got = 0; CALL(&got, 1, 2.0); print_double(got); }"),
)
# The data of a library; one name in eight.
VARIABLE = ("double @", "# + 0.125", "print_double(@); print_double(*address_of_@()); print_double(through_@());")

HEADER = """
#include <stdio.h>
struct Pair { double x; long n; };
struct Big { double y; char text[40]; int z; };
"""
PRINTING = """
static void print_double(double value) { printf("%a\\n", value); }
static void print_int(long value) { printf("%ld\\n", value); }
"""


def names_of(rows):
    """Of all functions that are wrapped; one name of five in capitals."""
    wrapped = [row.name for row in rows if not row.passed]
    return [f"MPI_{name.upper()}" if i % 5 == 4 else f"mpi_{name.lower()}" for i, name in enumerate(wrapped)]


def filled(text, name, number):
    return text.replace("@", name).replace("#", str(number))


def library(names):
    """Each function under its own name, and by a pointer and a call of the library's own, which go where the loader says."""
    text = [HEADER, PRINTING]
    for number, name in enumerate(names):
        if number % 8 == 7:
            kind, value, _ = VARIABLE
            text.append(f"{filled(kind, name, number)} = {filled(value, name, number)};")
            text.append(f"double *address_of_{name}(void) {{ return &{name}; }}\ndouble through_{name}(void) {{ return {name}; }}")
            continue
        head, body, call = FUNCTIONS[number % len(FUNCTIONS)]
        text.append(f"{filled(head, name, number)} {{ {filled(body, name, number)} }}")
        text.append(f"void *address_of_{name}(void) {{ return (void *){name}; }}")
        text.append(f"static void use_{name}(void) {{ {call.replace('CALL', name)} }}\nvoid through_{name}(void) {{ use_{name}(); }}")
    return "\n".join(text) + "\n"


def program(names):
    declarations, body = [HEADER, PRINTING], []
    for number, name in enumerate(names):
        if number % 8 == 7:
            kind, _, use = VARIABLE
            declarations.append(f"extern {filled(kind, name, number)};\nextern double *address_of_{name}(void), through_{name}(void);")
            body.append(filled(use, name, number))
            continue
        head, _, call = FUNCTIONS[number % len(FUNCTIONS)]
        declarations.append(f"{filled(head, name, number)};\nvoid *address_of_{name}(void);\nvoid through_{name}(void);")
        body.append(call.replace("CALL", name))
        body.append(call.replace("CALL", f"((__typeof__({name}) *)address_of_{name}())"))
        body.append(f"print_int((void *){name} == address_of_{name}());\nthrough_{name}();")
    return "\n".join(declarations) + "\nint main(void) {\n" + "\n".join(body) + "\nreturn 0;\n}\n"
