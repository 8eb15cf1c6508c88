"""`make p4`: compile the P4 programs of `p4/` with p4c, or without p4c verify that `p4/compiled` is not stale.

With --check nothing is written: outputs are verified, and where p4c is there, compiled again (warnings are errors) and
compared.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pymodel.base.errors import InputError  # noqa: E402
from pymodel.base.toolpath import find, version  # noqa: E402
from pymodel.switch import program  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    check = parser.parse_args().check
    compiler = find("p4c-bm2-ss")
    for source in sorted((ROOT / "p4").glob("*.p4")):
        folder = source.parent / "compiled"
        try:
            if compiler is None:
                program.verify(source, folder)
                said = "verified by its manifest; p4c-bm2-ss is not on this machine"
            elif not check:
                program.build(source, folder)
                said = f"compiled by p4c {version('p4c-bm2-ss')}"
            else:
                again = program.is_reproduced(source, folder)
                if again is False:
                    raise InputError(source.name, "other bytes from the same p4c", "`make p4`, and both committed")
                said = "reproduced" if again else "verified by its manifest, which names another version of p4c"
        except InputError as error:
            print(error, file=sys.stderr)
            return 2
        print(f"{source.relative_to(ROOT)}: {said}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
