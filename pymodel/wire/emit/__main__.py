"""`python -m pymodel.wire.emit [--check]`: write the emitted files, or say which of them are out of date."""

from __future__ import annotations

import sys

from pymodel.wire.emit import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
