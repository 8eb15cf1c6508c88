"""`python -m pymodel.cli` is `mrc`."""

from pymodel.cli import main

main()
