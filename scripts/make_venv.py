"""Create or complete `.venv` from requirements.lock: `python3 scripts/make_venv.py run-time|full`."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from pymodel.base.environment import ensure  # noqa: E402
from pymodel.base.errors import InputError  # noqa: E402

if __name__ == "__main__":
    try:
        ensure(ROOT, full=sys.argv[1:] == ["full"])
    except InputError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
