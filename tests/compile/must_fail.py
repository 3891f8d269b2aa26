#!/usr/bin/env python3
"""Runs a command that has to fail, and for the stated reason.

must_fail.py FILE COMMAND...   FILE holds lines `// expect: REGEX`; each must be found in the command's output.
A command that ends with 77 was skipped, and so is this.
"""

import re
import subprocess
import sys


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        expected = [line.split("expect:", 1)[1].strip() for line in lines if line.startswith("// expect:")]
    if not expected: sys.exit("%s expects nothing" % sys.argv[1])
    result = subprocess.run(sys.argv[2:], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode == 77:
        print(result.stdout)
        return 77
    missing = [reason for reason in expected if not re.search(reason, result.stdout)]
    if result.returncode and not missing: return 0
    print(result.stdout)
    if not result.returncode: print("this was expected to fail, and did not")
    for reason in missing: print("not said: %s" % reason)
    return 1


if __name__ == "__main__":
    sys.exit(main())
