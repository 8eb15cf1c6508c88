"""`make lint`, the RTL's part: Verilator -Wall, Verible's rules, Verible's format."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pymodel.base.errors import InputError  # noqa: E402
from pymodel.rtl.lint import lint  # noqa: E402

if __name__ == "__main__":
    try:
        complaints = lint()
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    print("\n".join(complaints) or "RTL: nothing to complain about")
    sys.exit(1 if complaints else 0)
